// SPDX-License-Identifier: Apache-2.0
// A send that fails on an unreliable queue pair stops its send queue (state SQE): further sends are flushed, receives
// go on, and software lets the send queue go on with what it posts next.
#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

namespace {

unsigned state_of(driver& d, std::uint32_t number) {
    REQUIRE(d.command(HCA_QUERY_QP, number) == HCA_OK);
    return hca_get(d.out() + HCA_QP_CONTEXT, HCA_QPC_STATE);
}

struct requests {
    send_request good, bad;
};

requests requests_of(unsigned type, const driver::memory_region& from, const driver::memory_region& to) {
    requests r;
    r.good.list = {{0, from.key, 100}};
    r.good.lid = 2;
    r.good.qpn = 0x21 + 4 * type;
    r.good.qkey = test_qp::settings{}.qkey;
    if (type == HCA_QP_UC) {
        r.good.opcode = HCA_OP_WRITE;
        r.good.rkey = to.key;
    }
    r.bad = r.good;
    if (type == HCA_QP_UD)
        r.bad.list[0].bytes = 4096;  // longer than a packet
    else
        r.bad.list = {{0, from.key, 6000}, {0, from.key + 0x100, 100}};  // the last packet's payload has no key
    return r;
}

}  // namespace

TEST_CASE("a send error of an unreliable queue pair stops its send queue") {
    calendar timeline;
    two_adapter_bench bench;
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    const auto ra = a.region(8192), rb = b.region(8192);
    auto events = a.create_eq(2, 4, HCA_INTERRUPT_MESSAGE);
    REQUIRE(a.command(HCA_MAP_EQ, 2, 0, std::uint64_t{1} << HCA_EVENT_WQ_CATASTROPHIC_ERROR, 0).status == HCA_OK);
    for (const unsigned type : {HCA_QP_UD, HCA_QP_UC}) {
        INFO("type " << type);
        test_qp::settings s;
        s.type = type;
        const std::uint32_t number = 0x20 + 4 * type;
        bench.connect(s, number);
        const auto [good, bad] = requests_of(type, ra, rb);
        const auto ended = [&, &a = a, &cq_a = cq_a, &qa = qa](unsigned syndrome, std::uint16_t index) {
            const auto c = bench.wait(a, *cq_a);
            REQUIRE(c);
            CHECK(c->is_send);
            CHECK(c->error() == (syndrome != 0));
            CHECK(c->syndrome == syndrome);
            CHECK(c->wqe == qa->slot(index));
        };
        const auto recover = [&, &a = a] {
            a.in();
            REQUIRE(a.command(HCA_SQE2RTS_QP, number) == HCA_OK);
            CHECK(state_of(a, number) == HCA_QP_RTS);
        };
        const unsigned syndrome = type == HCA_QP_UD ? HCA_LOCAL_LENGTH : HCA_LOCAL_PROTECTION;
        const std::uint32_t grh = type == HCA_QP_UD ? 40 : 0;
        for (unsigned i = 0; i < 4; ++i) qb->post_receive({{0, rb.key, 4096}});
        for (unsigned i = 0; i < 2; ++i) qa->post_receive({{4096, ra.key, 2048}});

        // --- what is behind it is flushed, and what comes then ---
        qa->post({good, bad, good, good});
        ended(0, 0);
        ended(syndrome, 1);
        ended(HCA_FLUSHED, 2);
        ended(HCA_FLUSHED, 3);
        CHECK(state_of(a, number) == HCA_QP_SQE);
        qa->post({good, good});
        ended(HCA_FLUSHED, 4);
        ended(HCA_FLUSHED, 5);
        CHECK(state_of(a, number) == HCA_QP_SQE);
        CHECK(!bench.wait(a, *cq_a, 10'000'000));  // no receive is flushed
        CHECK(!a.poll(events));

        // --- receives go on ---
        auto to_a = good;
        to_a.opcode = HCA_OP_SEND;
        to_a.list = {{0, rb.key, 50}};
        to_a.lid = 1;
        to_a.qpn = number;
        const auto drain_b = [&, &b = b, &cq_b = cq_b] {
            while (bench.wait(b, *cq_b, 10'000'000)) continue;
        };
        drain_b();
        qb->post(to_a);
        const auto received = bench.good_a();
        CHECK(!received.is_send);
        CHECK(received.bytes == 50 + grh);
        drain_b();

        // --- and sends, from the next one on ---
        recover();
        const auto messages = host.adapters[0]->requester.messages.total();
        qa->post({good, good});
        ended(0, 6);
        ended(0, 7);
        CHECK(host.adapters[0]->requester.messages.total() == messages + 2);
        if (type == HCA_QP_UD)
            for (unsigned i = 0; i < 2; ++i) CHECK(bench.good_b().bytes == 140);

        // --- an entry whose fetch ends after software has gone on is flushed, too ---
        auto& memory = host.memory;
        memory.slow_from = qa->memory.pages[0] + qa->slot(9);
        memory.slow_bytes = 128;
        memory.slow_by = 30'000'000;
        qa->post(bad);
        qa->post(good);
        ended(syndrome, 8);
        recover();
        memory.slow_bytes = 0;
        qa->post(good);
        ended(HCA_FLUSHED, 9);
        ended(0, 10);
        a.run(50'000'000);
        CHECK(!poll(a, *cq_a, 0));

        // --- the whole queue pair fails: now its receives are flushed ---
        qa->post(bad);
        ended(syndrome, 11);
        REQUIRE(a.command(HCA_2ERR_QP, number) == HCA_OK);
        const auto flushed = bench.wait(a, *cq_a);
        REQUIRE(flushed);
        CHECK(!flushed->is_send);
        CHECK(flushed->syndrome == HCA_FLUSHED);
        CHECK(state_of(a, number) == HCA_QP_ERR);
    }

    // --- a special queue pair ---
    test_qp::settings special;
    special.type = HCA_QP_MLX;
    test_qp qp0(a, 0x40, 0x80, 0x80, 100, special);
    qp0.connect(0, 2);
    send_request s;
    for (const auto& [length, syndrome] :
         {std::pair{5000u, HCA_LOCAL_LENGTH}, std::pair{64u, HCA_LOCAL_QP_OPERATION}}) {  // no packet, the second one
        s.list = {{0, ra.key, length}};
        qp0.post(s);
        const auto c = bench.wait(a, *cq_a);
        REQUIRE(c);
        CHECK(c->syndrome == static_cast<unsigned>(syndrome));
        CHECK(state_of(a, qp0.number) == HCA_QP_SQE);
        a.in();
        REQUIRE(a.command(HCA_SQE2RTS_QP, qp0.number) == HCA_OK);
    }
}
