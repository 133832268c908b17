// SPDX-License-Identifier: Apache-2.0
// A cable that carries every packet twice: every message arrives once and in order, every atomic happens once.
#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

TEST_CASE("a reliable connection over a cable that carries every packet twice") {
    calendar timeline;
    two_adapter_bench bench;
    bench.connect({});
    std::mt19937 random(12);
    const auto ra = bench.a.region(40'000), rb = bench.b.region(40'000);
    fill(bench.a, ra, random);
    fill(bench.b, rb, random);
    std::memset(bench.b.byte(rb, 0), 0, 8);
    inject_duplicates(bench);
    post_several(bench, ra, rb);
    for (std::uint32_t i = 0; i < 100; ++i) {
        INFO("message " << i);
        bench.qb->post_receive({{20'000, rb.key, 5000}});
        send_request r;
        r.opcode = HCA_OP_SEND_IMMEDIATE;
        r.immediate = i;
        r.list = {{10'000, ra.key, 5000}};
        bench.qa->post(r);
        const auto c = bench.wait(bench.a, *bench.cq_a, 2'000'000'000);
        REQUIRE(c);
        REQUIRE(!c->error());
        REQUIRE(bench.good_b().immediate == i);
    }
    CHECK(read(bench.b, rb, 20'000, 5000) == read(bench.a, ra, 10'000, 5000));
    CHECK(!poll(bench.b, *bench.cq_b, 0));
    CHECK(bench.host.adapters[1]->responder.duplicates.total() > 1000);
    CHECK(bench.host.adapters[0]->requester.retries.total() == 0);
}
