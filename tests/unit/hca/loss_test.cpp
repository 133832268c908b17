// SPDX-License-Identifier: Apache-2.0
// A cable that loses and corrupts packets: every message arrives once and in order, every atomic happens once.
#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

TEST_CASE("a reliable connection over a cable that loses packets") {
    calendar timeline;
    two_adapter_bench bench;
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    test_qp::settings s;
    s.timeout = 4;  // 65 us
    bench.connect(s);
    std::mt19937 random(11);
    const auto ra = a.region(40'000), rb = b.region(40'000);
    fill(a, ra, random);
    fill(b, rb, random);
    inject_loss(bench, "0.05");

    auto expected_a = read(a, ra, 0, ra.bytes), expected_b = read(b, rb, 0, rb.bytes);
    for (unsigned i = 0; i < 8; ++i) expected_b[i] = *b.byte(rb, i) = 0;
    std::uint64_t sum = 0;
    const auto put = [](std::vector<std::uint8_t>& to, std::size_t at, std::uint64_t v) {
        std::memcpy(to.data() + at, &v, 8);
    };
    std::uint32_t next_receive = 0, next_send = 0;
    for (unsigned i = 0; i < 400; ++i) {
        send_request r;
        r.immediate = i;
        r.rkey = rb.key;
        const auto kind = random() % 4;
        const auto bytes = static_cast<std::uint32_t>(random() % 9000);
        const auto from = random() % 10'000, to = 64 + random() % 10'000;
        if (kind == 0) {  // add
            r.opcode = HCA_OP_FETCH_ADD;
            r.list = {{30'000, ra.key, 8}};
            r.swap_add = random();
            put(expected_a, 30'000, sum);
            sum += r.swap_add;
            put(expected_b, 0, sum);
        } else if (kind == 1) {
            r.opcode = HCA_OP_WRITE;
            r.remote = to;
            r.list = {{from, ra.key, bytes}};
            std::copy_n(expected_a.begin() + static_cast<std::ptrdiff_t>(from), bytes,
                        expected_b.begin() + static_cast<std::ptrdiff_t>(to));
        } else if (kind == 2) {
            r.opcode = HCA_OP_READ;
            r.remote = 20'000 + from;
            r.list = {{to, ra.key, bytes}};
            std::copy_n(expected_b.begin() + static_cast<std::ptrdiff_t>(20'000 + from), bytes,
                        expected_a.begin() + static_cast<std::ptrdiff_t>(to));
        } else {
            r.opcode = HCA_OP_SEND_IMMEDIATE;
            r.list = {{from, ra.key, bytes}};
            qb->post_receive({{to, rb.key, bytes}});
            ++next_receive;
            std::copy_n(expected_a.begin() + static_cast<std::ptrdiff_t>(from), bytes,
                        expected_b.begin() + static_cast<std::ptrdiff_t>(to));
        }
        r.fence = true;  // what a read brings may be what is sent next
        ++next_send;
        qa->post(r);
        const bool receives = kind == 3;
        const auto c = bench.wait(a, *cq_a, 2'000'000'000);
        REQUIRE(c);
        INFO("message " << i << ", opcode " << r.opcode << ", syndrome " << c->syndrome);
        REQUIRE(!c->error());
        REQUIRE(c->opcode == r.opcode);
        if (receives) {
            const auto there = bench.good_b();
            REQUIRE(there.immediate == i);
            REQUIRE(there.bytes == bytes);
        }
        REQUIRE(!poll(b, *cq_b, 0));
    }
    CHECK(read(a, ra, 0, ra.bytes) == expected_a);
    CHECK(read(b, rb, 0, rb.bytes) == expected_b);
    CHECK(host.adapters[0]->requester.retries.total() > 10);
    CHECK(host.adapters[1]->responder.duplicates.total() > 5);

    post_several(bench, ra, rb);
}
