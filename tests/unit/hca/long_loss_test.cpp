// SPDX-License-Identifier: Apache-2.0
// Long messages over a cable that loses packets.
#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

TEST_CASE("what has arrived of a long message counts, however often packets of it are lost") {
    calendar timeline;
    two_adapter_bench bench;
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    test_qp::settings s;
    s.timeout = 4;  // 65 us
    bench.connect(s);
    std::mt19937 random(5);
    const auto ra = a.region(600'000), rb = b.region(600'000);
    fill(a, ra, random);
    send_request write;
    write.opcode = HCA_OP_WRITE;
    write.list = {{0, ra.key, 600'000}};
    write.rkey = rb.key;
    for (const char* share : {"0.03", "0.045", "0.05", "0.055", "0.06", "0.1"}) {
        INFO("loss " << share);
        inject_loss(bench, share);
        qa->post(write);
        const auto done = bench.wait(a, *cq_a, 2'000'000'000'000);
        REQUIRE(done);
        REQUIRE(!done->error());
    }
    CHECK(read(a, ra, 0, ra.bytes) == read(b, rb, 0, rb.bytes));
    CHECK(host.adapters[0]->requester.retries.total() > 3 * 7);
}
