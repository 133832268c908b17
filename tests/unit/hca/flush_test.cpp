// SPDX-License-Identifier: Apache-2.0
// Every receive entry of a queue pair in the error state completes as flushed, once and in order: those that are
// posted, those that software posts afterwards, and one that a message had taken.
#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

namespace {

constexpr std::uint32_t bytes = 200'000;
constexpr ticks microsecond = 1'000'000, millisecond = 1000 * microsecond;

void check_flushed(two_adapter_bench& bench, std::uint32_t wqe, ticks max_time = 100 * microsecond) {
    const auto c = bench.wait(bench.b, *bench.cq_b, max_time);
    REQUIRE(c);
    CHECK(c->syndrome == HCA_FLUSHED);
    CHECK(!c->is_send);
    CHECK(c->qpn == bench.qb->number);
    CHECK(c->wqe == wqe);
}

/// Sends `length` bytes, and puts the receiver into the error state once it has `packets` of them.
void fail_in_message(two_adapter_bench& bench, const driver::memory_region& from, std::uint32_t length,
                     unsigned packets) {
    const auto& responder = bench.host.adapters[1]->responder;
    const auto before = responder.received.total();
    send_request s;
    s.list = {{0, from.key, length}};
    bench.qa->post(s);
    while (responder.received.total() < before + packets) bench.b.run(100'000);
    REQUIRE(bench.b.command(HCA_2ERR_QP, bench.qb->number) == HCA_OK);
}

/// A shared receive queue on the receiver's side whose entries follow each other.
struct shared_queue {
    static constexpr std::uint32_t number = 0x41, record = 200;
    static constexpr unsigned log_stride = 6, log_size = 3;
    driver::memory_region memory;

    shared_queue(driver& d, const driver::memory_region& to, unsigned posted)
        : memory(create_srq(d, number, record, log_stride, log_size)) {
        for (unsigned i = 0; i < 1u << log_size; ++i) {
            auto* e = d.byte(memory, entry(i));
            hca_set(e, HCA_NEXT_ADDRESS, entry((i + 1) % (1u << log_size)) >> 6);
            test_qp::write_element(e + HCA_SEGMENT, {to.address, to.key, bytes});
            hca_set(e + 2 * HCA_SEGMENT, HCA_DATA_KEY, HCA_INVALID_LKEY);
        }
        hca_put32(d.record(test_qp::uar, record), posted);
    }
    static std::uint32_t entry(unsigned i) { return i << log_stride; }
};

/// The second adapter's queue pair fails while it fetches the entry for a message, from a slow part of memory.
void fail_while_fetching(two_adapter_bench& bench, const driver::memory_region& from, std::uint64_t slow_from,
                         std::uint64_t slow_bytes) {
    auto& memory = bench.host.memory;
    memory.slow_from = slow_from;
    memory.slow_bytes = slow_bytes;
    memory.slow_by = 20 * microsecond;
    const auto& fetches = bench.host.adapters[1]->receive_queues.fetches;
    const auto before = fetches.total();
    send_request s;
    s.list = {{0, from.key, 100}};
    bench.qa->post(s);
    while (fetches.total() == before) bench.b.run(100'000);
    REQUIRE(bench.b.command(HCA_2ERR_QP, bench.qb->number) == HCA_OK);
    memory.slow_bytes = 0;
}

/// Those that are posted in the error state.
void try_late_receives(two_adapter_bench& bench) {
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    const auto rb = b.region(4096);
    const auto& reads = host.adapters[1]->doorbell_records.reads;
    const auto post = [&] { qb->post_receive({{0, rb.key, 64}}); };
    const auto entry = [&](unsigned i) { return i << qb->log_stride; };
    for (const unsigned type : {HCA_QP_RC, HCA_QP_UC, HCA_QP_UD}) {
        test_qp::settings s;
        s.type = type;
        bench.connect(s, 0x20 + 2 * type);
        // A queue pair that has not failed is not looked after.
        b.run(millisecond);
        const auto before = reads.total();
        b.run(10 * millisecond);
        CHECK(reads.total() == before);

        post();
        post();
        REQUIRE(b.command(HCA_2ERR_QP, qb->number) == HCA_OK);
        check_flushed(bench, entry(0));
        check_flushed(bench, entry(1));
        post();  // as one does who waits for the end of all before it
        check_flushed(bench, entry(2));
        post();
        post();
        check_flushed(bench, entry(3));
        check_flushed(bench, entry(4));
        b.run(50 * millisecond);  // long unused: it is looked after more seldom
        const auto idle = reads.total();
        b.run(100 * millisecond);
        CHECK(reads.total() >= idle + 99);
        CHECK(reads.total() <= idle + 101);
        for (unsigned i = 5; i < 40; ++i) {  // round the ring
            post();
            check_flushed(bench, entry(i % 16), 2 * millisecond);
        }
        CHECK(!poll(b, *cq_b, 0));

        // Unused for a second, it is let alone, until software says that it is there.
        b.run(1100 * millisecond);
        const auto rest = reads.total();
        post();
        b.run(100 * millisecond);
        CHECK(reads.total() == rest);
        CHECK(!poll(b, *cq_b, 0));
        REQUIRE(b.command(HCA_2ERR_QP, qb->number) == HCA_OK);
        check_flushed(bench, entry(40 % 16));
        b.run(1100 * millisecond);
        post();
        send_request marker;
        marker.list = {{0, rb.key, 4}};
        qb->post(marker);
        const auto sent = bench.wait(b, *cq_b);
        REQUIRE(sent);
        CHECK(sent->is_send);
        CHECK(sent->syndrome == HCA_FLUSHED);
        check_flushed(bench, entry(41 % 16));
        CHECK(!poll(b, *cq_b, 0));

        REQUIRE(b.command(HCA_2RST_QP, qb->number, 1) == HCA_OK);
        b.run(2 * millisecond);
        const auto after = reads.total();
        b.run(10 * millisecond);
        CHECK(reads.total() == after);
    }
}

/// One that a message has taken.
void try_taken_entry(two_adapter_bench& bench) {
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    const auto ra = a.region(bytes), rb = b.region(bytes);
    const auto entry = [&](unsigned i) { return i << qb->log_stride; };
    std::uint32_t number = 0x60;
    for (const unsigned type : {HCA_QP_RC, HCA_QP_UC}) {
        INFO("type " << type);
        test_qp::settings s;
        s.type = type;
        bench.connect(s, number);
        number += 2;
        for (unsigned i = 0; i < 3; ++i) qb->post_receive({{0, rb.key, bytes}});
        fail_in_message(bench, ra, bytes, 10);
        for (unsigned i = 0; i < 3; ++i) check_flushed(bench, entry(i));
        CHECK(!bench.wait(b, *cq_b));
        REQUIRE(b.command(HCA_2RST_QP, qb->number, 1) == HCA_OK);
    }
    // One whose fetch ends in the error state.
    bench.connect({}, number);
    for (unsigned i = 0; i < 3; ++i) qb->post_receive({{0, rb.key, bytes}});
    fail_while_fetching(bench, ra, qb->memory.pages[0], qb->sq_start);
    for (unsigned i = 0; i < 3; ++i) check_flushed(bench, entry(i));
    CHECK(!bench.wait(b, *cq_b));
    REQUIRE(b.command(HCA_2RST_QP, qb->number, 1) == HCA_OK);
}

/// One of a shared queue that a message has taken: the event that no more follows comes behind it.
void try_shared_entry(two_adapter_bench& bench) {
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    const auto ra = a.region(bytes), rb = b.region(bytes);
    auto events = b.create_eq(2, 4, HCA_INTERRUPT_MESSAGE);
    REQUIRE(b.command(HCA_MAP_EQ, 2, 0, std::uint64_t{1} << HCA_EVENT_LAST_WQE, 0).status == HCA_OK);
    shared_queue srq(b, rb, 3);
    test_qp::settings shares;
    shares.srqn = shared_queue::number;
    const auto last_wqe_of = [&](std::uint32_t number) {
        const auto* e = b.poll(events);
        if (e) CHECK(hca_get(e, HCA_EQE_NUMBER) == number);
        return e != nullptr;
    };
    const auto& reads = host.adapters[1]->doorbell_records.reads;

    // In the middle of a message.
    bench.connect({}, 0x80, &shares);
    fail_in_message(bench, ra, bytes, 10);
    check_flushed(bench, shared_queue::entry(0));
    b.run(10 * microsecond);
    CHECK(last_wqe_of(qb->number));
    const auto before = reads.total();
    b.run(10 * millisecond);
    CHECK(reads.total() == before);

    // While the entry is being fetched.
    bench.connect({}, 0x82, &shares);
    fail_while_fetching(bench, ra, srq.memory.pages[0], 4096);
    b.run(2 * microsecond);
    CHECK(!last_wqe_of(qb->number));
    check_flushed(bench, shared_queue::entry(1));
    b.run(10 * microsecond);
    CHECK(last_wqe_of(qb->number));

    // None is taken: the rest stays in the shared queue.
    bench.connect({}, 0x84, &shares);
    REQUIRE(b.command(HCA_2ERR_QP, qb->number) == HCA_OK);
    b.run(10 * microsecond);
    CHECK(last_wqe_of(qb->number));
    CHECK(!poll(b, *cq_b, 0));
    bench.connect({}, 0x86, &shares);
    send_request s;
    s.list = {{0, ra.key, 100}};
    qa->post(s);
    CHECK(bench.good_b().wqe == shared_queue::entry(2));
}

/// A reset of the adapter ends it all.
void try_reset(two_adapter_bench& bench) {
    auto& b = bench.b;
    const auto& reads = bench.host.adapters[1]->doorbell_records.reads;
    bench.connect({}, 0x90);
    REQUIRE(b.command(HCA_2ERR_QP, bench.qb->number) == HCA_OK);
    b.write32(HCA_RESET, HCA_RESET_NOW);
    b.run(millisecond);
    const auto after = reads.total();
    b.run(10 * millisecond);
    CHECK(reads.total() == after);
}

}  // namespace

TEST_CASE("receives of queue pairs in the error state are flushed") {
    calendar timeline;
    two_adapter_bench bench;
    try_late_receives(bench);
    try_taken_entry(bench);
    try_shared_entry(bench);
    try_reset(bench);
}
