// SPDX-License-Identifier: Apache-2.0
// A completion queue is not made smaller than what software has not taken out of it.
#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

TEST_CASE("a completion queue is resized with completions in it") {
    calendar timeline;
    two_adapter_bench bench;
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    bench.connect();
    const auto ra = a.region(64), rb = b.region(64);
    send_request w;
    w.opcode = HCA_OP_WRITE;
    w.list = {{0, ra.key, 4}};
    w.rkey = rb.key;
    const auto complete = [&, &a = a, &qa = qa](unsigned count) {
        qa->post(std::vector<send_request>(count, w));
        a.run(50'000'000);
    };
    const auto small = a.region(std::uint64_t{HCA_CQE_SIZE} << 2);
    for (unsigned i = 0; i < 4; ++i) hca_set(a.byte(small, i * HCA_CQE_SIZE), HCA_CQE_OWNER, 1);
    const auto resize = [&, &a = a] {
        auto* m = a.in();
        hca_set(m, HCA_RESIZE_LOG_SIZE, 2);
        hca_set(m, HCA_RESIZE_LKEY, small.key);
        return a.command(HCA_RESIZE_CQ, 0x80, 1);
    };

    // --- five do not fit into four; the queue stays as it was ---
    complete(5);
    CHECK(resize() == HCA_BAD_SIZE);
    complete(5);
    for (unsigned i = 0; i < 10; ++i) bench.good_a();
    CHECK(!poll(a, *cq_a, 0));

    // --- four fit; what software has taken, the doorbell record tells ---
    complete(7);
    for (unsigned i = 0; i < 3; ++i) bench.good_a();
    REQUIRE(resize() == HCA_OK);
    for (unsigned i = 0; i < 4; ++i) bench.good_a();  // out of the old buffer
    cq_a->memory = small;
    cq_a->log_size = 2;
    for (unsigned round = 0; round < 3; ++round) {
        complete(4);
        for (unsigned i = 0; i < 4; ++i) bench.good_a();
    }
    CHECK(host.adapters[0]->completion_queues.overruns.total() == 0);
    complete(5);
    CHECK(host.adapters[0]->completion_queues.overruns.total() == 1);

    // --- a queue whose buffer is gone: each completion that is lost counts ---
    const auto& lost = host.adapters[1]->completion_queues;
    REQUIRE(b.command(HCA_HW2SW_MPT, cq_b->memory.key >> 8, 1) == HCA_OK);
    w.list = {{0, rb.key, 4}};
    w.rkey = ra.key;
    for (unsigned i = 0; i < 3; ++i) qb->post(w);
    b.run(50'000'000);
    CHECK(lost.dropped.total() == 3);
    CHECK(lost.write_failures.total() == 1);
    CHECK(lost.overruns.total() == 0);
}
