// SPDX-License-Identifier: Apache-2.0
// Several reads in flight over a cable that loses packets: a repeated read stands for all behind it, as go-back-N
// means.
#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

namespace {

/// Posts more reads than may be in flight, an atomic and a write in between; compares data.
void read_all(two_adapter_bench& bench, const driver::memory_region& ra, const driver::memory_region& rb,
              std::mt19937& random) {
    constexpr std::uint32_t reads = 12, bytes = 65'536;
    std::uint64_t sum = 0, there = 0;
    std::memcpy(&sum, bench.b.byte(rb, reads * bytes), 8);
    fill(bench.a, ra, random);
    for (std::uint32_t i = 0; i < reads; ++i) {
        send_request r;
        r.rkey = rb.key;
        if (i % 6 == 2) {
            r.opcode = HCA_OP_FETCH_ADD;
            r.remote = std::uint64_t{reads} * bytes;
            r.list = {{std::uint64_t{reads} * bytes, ra.key, 8}};
            r.swap_add = i;
            sum += i;
        } else {
            r.opcode = i % 6 == 4 ? HCA_OP_WRITE : HCA_OP_READ;
            r.remote = std::uint64_t{i} * bytes;
            r.list = {{std::uint64_t{i} * bytes, ra.key, bytes}};
        }
        bench.qa->post(r);
    }
    for (std::uint32_t i = 0; i < reads; ++i) {
        const auto c = bench.wait(bench.a, *bench.cq_a, 40'000'000'000);
        REQUIRE(c);
        INFO("request " << i << ", syndrome " << c->syndrome);
        REQUIRE(!c->error());
    }
    for (std::uint32_t i = 0; i < reads; ++i)
        if (i % 6 != 2)
            REQUIRE(read(bench.a, ra, std::uint64_t{i} * bytes, bytes) ==
                    read(bench.b, rb, std::uint64_t{i} * bytes, bytes));
    std::memcpy(&there, bench.b.byte(rb, reads * bytes), 8);
    REQUIRE(there == sum);
}

}  // namespace

TEST_CASE("reads in flight over a cable that loses packets") {
    calendar timeline;
    two_adapter_bench bench;
    test_qp::settings s;
    s.timeout = 8;  // 1 ms
    bench.connect(s);
    std::mt19937 random(5);
    const auto ra = bench.a.region(13 * 65'536), rb = bench.b.region(13 * 65'536);
    fill(bench.b, rb, random);
    for (const char* share : {"0.01", "0.03", "0.04", "0.05", "0.06"}) {
        inject_loss(bench, share);
        for (unsigned round = 0; round < 6; ++round) {
            INFO("loss " << share << ", round " << round);
            read_all(bench, ra, rb, random);
        }
    }
    CHECK(bench.host.adapters[1]->responder.duplicates.total() > 20);
}
