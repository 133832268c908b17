// SPDX-License-Identifier: Apache-2.0
// Datagrams, unreliable connections, shared receive queues, and completion queues that are armed, resized and overrun.
#include <set>

#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

TEST_CASE("datagrams, unreliable connections, shared queues") {
    calendar timeline;
    two_adapter_bench bench;
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    std::mt19937 random(5);
    const auto ra = a.region(20'000), rb = b.region(20'000, 1, driver::all_rights, 0x1'0000'0000);
    fill(a, ra, random);
    fill(b, rb, random);

    // --- datagrams: 40 bytes stay free in front ---
    test_qp::settings ud;
    ud.type = HCA_QP_UD;
    ud.psn = 5;
    bench.connect(ud);
    for (const std::uint32_t bytes : {0u, 1u, 2048u}) {
        auto expected = read(b, rb, rb.address, rb.bytes);
        qb->post_receive({{rb.address + 3, rb.key, 17}, {rb.address + 100, rb.key, 2071}});
        send_request s;
        s.list = {{7, ra.key, bytes}};
        s.lid = 2;
        s.qpn = qb->number;
        s.qkey = ud.qkey;
        qa->post(s);
        bench.good_a();
        const auto c = bench.good_b();
        CHECK(c.bytes == bytes + 40);
        CHECK(c.source_qpn == qa->number);
        const auto sent = read(a, ra, 7, bytes);
        std::copy(sent.begin(), sent.end(), expected.begin() + 100 + 23);
        CHECK(read(b, rb, rb.address, rb.bytes) == expected);
    }
    qb->post_receive({{rb.address, rb.key, 4096}});
    send_request s;
    s.list = {{0, ra.key, 10}};
    s.lid = 2;
    s.qpn = qb->number;
    s.qkey = ud.qkey + 1;  // wrong: dropped without a word
    qa->post(s);
    bench.good_a();
    CHECK(!bench.wait(b, *cq_b, 5'000'000));
    s.qkey = ud.qkey;
    s.lid = 1;  // to itself: the packet turns round in the port
    s.qpn = qa->number;
    qa->post_receive({{1000, ra.key, 4096}});
    qa->post(s);
    std::set<bool> sides;
    for (unsigned i = 0; i < 2; ++i) sides.insert(bench.good_a().is_send);
    CHECK(sides.size() == 2);
    CHECK(read(a, ra, 1040, 10) == read(a, ra, 0, 10));
    CHECK(host.adapters[0]->network.loopback_packets.total() == 1);

    // --- unreliable connection: writes and sends, no acknowledgement ---
    test_qp::settings uc;
    uc.type = HCA_QP_UC;
    bench.connect(uc, 0x24);
    const auto acks = host.adapters[1]->responder.acknowledgements.total();
    send_request w;
    w.opcode = HCA_OP_WRITE_IMMEDIATE;
    w.immediate = 77;
    w.list = {{0, ra.key, 7000}};
    w.remote = rb.address + 9;
    w.rkey = rb.key;
    qb->post_receive({});
    qa->post(w);
    bench.good_a();
    CHECK(bench.good_b().immediate == 77);
    CHECK(read(b, rb, rb.address + 9, 7000) == read(a, ra, 0, 7000));
    CHECK(host.adapters[1]->responder.acknowledgements.total() == acks);
    w.rkey += 0x100;  // refused without a word
    qa->post(w);
    bench.good_a();
    w.rkey -= 0x100;
    qa->post(w);
    bench.good_a();
    b.run(5'000'000);
    qb->post_receive({});
    w.immediate = 78;
    qa->post(w);
    bench.good_a();
    bench.good_b();

    // --- a shared receive queue of two queue pairs, with a limit ---
    constexpr std::uint32_t srqn = 0x41, srq_record = 100;
    constexpr unsigned log_stride = 6, log_size = 3;
    const auto srq = create_srq(b, srqn, srq_record, log_stride, log_size);
    const unsigned order[] = {0, 5, 2, 7, 1, 3};  // entries follow each other by their next addresses
    for (unsigned i = 0; i < 6; ++i) {
        auto* e = b.byte(srq, order[i] << log_stride);
        hca_set(e, HCA_NEXT_ADDRESS, (i + 1 < 6 ? order[i + 1] : 4) << log_stride >> 6);
        test_qp::write_element(e + HCA_SEGMENT, {rb.address + 3000 * i, rb.key, 3000});
        hca_set(e + 2 * HCA_SEGMENT, HCA_DATA_KEY, HCA_INVALID_LKEY);
    }
    hca_put32(b.record(test_qp::uar, srq_record), 6);
    auto events = b.create_eq(2, 4, HCA_INTERRUPT_MESSAGE);
    REQUIRE(b.command(HCA_MAP_EQ, 2, 0, std::uint64_t{1} << HCA_EVENT_SRQ_LIMIT, 0).status == HCA_OK);
    REQUIRE(b.command(HCA_ARM_SRQ, srqn, 0, 4, 0).status == HCA_OK);
    test_qp::settings shares;
    shares.srqn = srqn;
    bench.connect({}, 0x28, &shares);
    for (unsigned i = 0; i < 6; ++i) {
        send_request m;
        m.list = {{i, ra.key, 2500}};
        qa->post(m);
        bench.good_a();
        const auto got = bench.good_b();
        CHECK(got.wqe == order[i] << log_stride);
        CHECK(read(b, rb, rb.address + 3000 * i, 2500) == read(a, ra, i, 2500));
        b.run(1'000'000);  // the event is written behind the completion
        auto* e = b.poll(events);
        CHECK((e != nullptr) == (i == 2));  // three are left, fewer than four
        if (e) CHECK(hca_get(e, HCA_EQE_NUMBER) == srqn);
    }
    REQUIRE(b.command(HCA_QUERY_SRQ, srqn) == HCA_OK);
    CHECK(hca_get(b.out(), HCA_SRQC_LIMIT) == 0);

    // --- arming: an event at once if something is there already, else with the next completion ---
    auto& cqes = host.adapters[0]->completion_queues;
    const auto events_before = host.adapters[0]->event_queues.events.total();
    const auto ring = [&](unsigned command) {
        a.doorbell(test_qp::uar, HCA_UAR_CQ, command << 24 | 0x80, cq_a->consumer);
    };
    ring(HCA_ARM_NEXT);
    a.run();
    CHECK(host.adapters[0]->event_queues.events.total() == events_before);
    send_request plain;
    plain.opcode = HCA_OP_WRITE;
    plain.list = {{0, ra.key, 4}};
    plain.remote = rb.address;
    plain.rkey = rb.key;
    qa->post(plain);
    a.run(20'000'000);
    CHECK(host.adapters[0]->event_queues.events.total() == events_before + 1);
    ring(HCA_ARM_NEXT);
    a.run();
    CHECK(host.adapters[0]->event_queues.events.total() == events_before + 2);
    bench.good_a();

    // --- resizing: what comes afterwards goes to the new buffer at the same counter ---
    const auto larger = a.region(std::uint64_t{HCA_CQE_SIZE} << 7);
    for (unsigned i = 0; i < 128; ++i) hca_set(a.byte(larger, i * HCA_CQE_SIZE), HCA_CQE_OWNER, 1);
    auto* m = a.in();
    hca_set(m, HCA_RESIZE_LOG_SIZE, 7);
    hca_set(m, HCA_RESIZE_LKEY, larger.key);
    REQUIRE(a.command(HCA_RESIZE_CQ, 0x80, 1) == HCA_OK);
    cq_a->memory = larger;
    cq_a->log_size = 7;
    qa->post(plain);
    bench.good_a();

    // --- a queue that is not polled is overrun; the doorbell record is asked first ---
    const auto total = cqes.cqes.total();
    for (unsigned i = 0; i < 140; ++i) {
        qa->post(plain);
        a.run(20'000'000);
    }
    CHECK(cqes.cqes.total() == total + 128);
    CHECK(cqes.overruns.total() == 1);
}
