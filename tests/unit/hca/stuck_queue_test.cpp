// SPDX-License-Identifier: Apache-2.0
// A send queue that sends nothing for a time, or until its queue pair is reset.
#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

TEST_CASE("a send queue that is stuck is named; its end, or a reset of the queue pair, lets messages go") {
    calendar timeline;
    two_adapter_bench bench;
    bench.connect({});
    const auto ra = bench.a.region(4096), rb = bench.b.region(4096);
    auto& requester = bench.host.adapters[0]->requester;
    send_request r;
    r.opcode = HCA_OP_WRITE;
    r.rkey = rb.key;
    r.list = {{0, ra.key, 64}};
    requester.stuck.defaults.lasting = duration{50'000'000};  // 50 us
    requester.stuck.order()->apply();
    CHECK_FALSE(requester.waits());  // no queue has had anything to send yet
    const auto begin = timeline.now();
    bench.qa->post(r);
    CHECK_FALSE(bench.wait(bench.a, *bench.cq_a, 40'000'000));
    REQUIRE(requester.waits());
    CHECK(requester.waits()->what ==
          "the send queue of queue pair " + std::to_string(bench.qa->number) + ", which is stuck");
    const auto c = bench.wait(bench.a, *bench.cq_a, 40'000'000);
    REQUIRE(c);
    CHECK(!c->error());
    CHECK(timeline.now() > begin + 50'000'000);
    CHECK_FALSE(requester.waits());

    requester.stuck.defaults.lasting = duration{0};
    requester.stuck.order()->apply();
    bench.qa->post(r);
    CHECK_FALSE(bench.wait(bench.a, *bench.cq_a, 1'000'000'000));
    REQUIRE(requester.waits());
    REQUIRE(bench.a.command(HCA_2ERR_QP, bench.qa->number) == HCA_OK);
    CHECK_FALSE(requester.waits());  // what it had to send has been flushed
    const auto flushed = bench.wait(bench.a, *bench.cq_a, 40'000'000);
    REQUIRE(flushed);
    CHECK(flushed->syndrome == HCA_FLUSHED);
    REQUIRE(bench.a.command(HCA_2RST_QP, bench.qa->number, 1) == HCA_OK);
    CHECK_FALSE(requester.waits());
    bench.connect({}, 0x22);
    bench.qa->post(r);
    const auto again = bench.wait(bench.a, *bench.cq_a, 40'000'000);
    REQUIRE(again);
    CHECK(!again->error());
}
