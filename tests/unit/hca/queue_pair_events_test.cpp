// SPDX-License-Identifier: Apache-2.0
// What queue pairs tell of themselves: that the other side has begun, and that a send queue has been drained.
#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

namespace {

constexpr std::uint32_t tell = 1u << 31;  // of RTS2SQD's modifier
constexpr unsigned eqn = 3, messages = 8;
constexpr std::uint32_t bytes = 40'000;

struct event {
    unsigned type;
    std::uint32_t number;
    bool operator==(const event& other) const { return type == other.type && number == other.number; }
};
std::ostream& operator<<(std::ostream& to, const event& e) { return to << "event " << e.type << " of " << e.number; }

std::vector<event> events(driver& d, driver::event_queue& q) {
    std::vector<event> found;
    while (const auto* e = d.poll(q)) found.push_back({hca_get(e, HCA_EQE_TYPE), hca_get(e, HCA_EQE_NUMBER)});
    d.consumed(q);
    return found;
}

unsigned state_of(driver& d, std::uint32_t number) {
    REQUIRE(d.command(HCA_QUERY_QP, number) == HCA_OK);
    return hca_get(d.out() + HCA_QP_CONTEXT, HCA_QPC_STATE);
}

/// A receiver that has not gone on from RTR hears once that the sender has.
void try_communication(two_adapter_bench& bench) {
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    const auto ra = a.region(8192), rb = b.region(8192);
    auto q = b.create_eq(eqn, 4, HCA_INTERRUPT_MESSAGE);
    REQUIRE(b.command(HCA_MAP_EQ, eqn, 0, 1u << HCA_EVENT_COMMUNICATION | 1u << HCA_EVENT_SQ_DRAINED, 0).status ==
            HCA_OK);

    send_request w;
    w.opcode = HCA_OP_WRITE;
    w.list = {{0, ra.key, 5000}};
    w.rkey = rb.key;
    for (const unsigned type : {HCA_QP_RC, HCA_QP_UC}) {
        test_qp::settings s;
        s.type = type;
        const std::uint32_t number = 0x20 + 4 * type;
        qa.emplace(a, number, 0x80, 0x80, 4 + 8 * type, s);
        qb.emplace(b, number + 1, 0x81, 0x81, 4 + 8 * type, s);
        qa->connect(number + 1, 2);
        qb->to_rtr(number, 1);
        b.run(10'000'000);
        CHECK(events(b, q).empty());
        for (unsigned i = 0; i < 3; ++i) {
            qa->post(w);
            bench.good_a();
            b.run(10'000'000);
            CHECK(events(b, q) ==
                  (i ? std::vector<event>{} : std::vector<event>{{HCA_EVENT_COMMUNICATION, number + 1}}));
        }
        qb->to_rts();
        qa->post(w);
        bench.good_a();
        b.run(10'000'000);
        CHECK(events(b, q).empty());
    }
    // A queue pair in RTS already gets no such event.
    bench.connect({}, 0x60);
    qa->post(w);
    bench.good_a();
    b.run(10'000'000);
    CHECK(events(b, q).empty());
}

/// A send queue ends what it has begun, tells that it is drained, and goes on when told so.
void try_draining(two_adapter_bench& bench) {
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    std::mt19937 random(7);
    const auto ra = a.region(messages * bytes), rb = b.region(messages * bytes);
    fill(a, ra, random);
    auto q = a.create_eq(eqn, 4, HCA_INTERRUPT_MESSAGE);
    REQUIRE(a.command(HCA_MAP_EQ, eqn, 0, 1u << HCA_EVENT_COMMUNICATION | 1u << HCA_EVENT_SQ_DRAINED, 0).status ==
            HCA_OK);
    const auto& requester = host.adapters[0]->requester;
    const std::vector<std::uint8_t> nothing(bytes, 0);
    const auto arrived = [&](unsigned i) { return read(b, rb, i * bytes, bytes) == read(a, ra, i * bytes, bytes); };
    const auto untouched = [&](unsigned i) { return read(b, rb, i * bytes, bytes) == nothing; };

    std::uint32_t number = 0x70;
    for (const bool signalled : {false, true})  // without, no request would ask for the last one's acknowledgement
        for (const unsigned opcode : {HCA_OP_WRITE, HCA_OP_READ}) {
            INFO("signalled " << signalled << ", opcode " << opcode);
            for (unsigned i = 0; i < messages; ++i)
                for (std::uint32_t at = 0; at < bytes; at += 1)
                    *(opcode == HCA_OP_WRITE ? b.byte(rb, i * bytes + at) : a.byte(ra, i * bytes + at)) = 0;
            fill(opcode == HCA_OP_WRITE ? a : b, opcode == HCA_OP_WRITE ? ra : rb, random);
            const auto nowhere = [&](unsigned i) {
                return opcode == HCA_OP_WRITE ? untouched(i) : read(a, ra, i * bytes, bytes) == nothing;
            };
            bench.connect({}, number);
            const auto before = requester.messages.total();
            std::vector<send_request> all(messages);
            for (unsigned i = 0; i < messages; ++i) {
                all[i].opcode = opcode;
                all[i].list = {{i * bytes, ra.key, bytes}};
                all[i].remote = i * bytes;
                all[i].rkey = rb.key;
                all[i].signalled = signalled || i + 1 == messages;
            }
            qa->post(all);
            while (requester.messages.total() < before + 2) a.run(100'000);
            REQUIRE(a.command(HCA_RTS2SQD_QP, number | tell) == HCA_OK);
            CHECK(state_of(a, number) == HCA_QP_DRAINING);
            a.in();
            CHECK(a.command(HCA_SQD2SQD_QP, number) == HCA_BAD_QP_STATE);
            CHECK(a.command(HCA_SQD2RTS_QP, number) == HCA_BAD_QP_STATE);
            CHECK(events(a, q).empty());
            a.run(200'000'000);
            CHECK(events(a, q) == std::vector<event>{{HCA_EVENT_SQ_DRAINED, number}});
            CHECK(state_of(a, number) == HCA_QP_SQD);
            const auto done = static_cast<unsigned>(requester.messages.total() - before);
            CHECK(done >= 2);
            CHECK(done < messages);
            for (unsigned i = 0; i < messages; ++i) CHECK((i < done ? arrived(i) : nowhere(i)));
            if (signalled)
                for (unsigned i = 0; i < done; ++i) bench.good_a();
            CHECK(!poll(a, *cq_a, 0));
            CHECK(requester.timeouts.total() == 0);

            a.in();
            REQUIRE(a.command(HCA_SQD2RTS_QP, number) == HCA_OK);
            for (unsigned i = signalled ? done : messages - 1; i < messages; ++i) bench.good_a();
            for (unsigned i = 0; i < messages; ++i) CHECK(arrived(i));
            CHECK(events(a, q).empty());
            number += 2;
        }

    // A write that has left, unsignalled and not the last one, behind which a read waits for another to end: no packet
    // has asked for an acknowledgement of it, so the queue pair does now.
    test_qp::settings one_read;
    one_read.log_reads = 0;
    bench.connect(one_read, number);
    const auto before = requester.messages.total();
    std::vector<send_request> three(3);
    for (unsigned i = 0; i < 3; ++i) {
        three[i].opcode = i == 1 ? HCA_OP_WRITE : HCA_OP_READ;
        three[i].list = {{i * bytes, ra.key, i == 1 ? 100 : bytes}};
        three[i].remote = i * bytes;
        three[i].rkey = rb.key;
        three[i].signalled = i == 2;
    }
    qa->post(three);
    a.run(1'500'000);
    REQUIRE(a.command(HCA_RTS2SQD_QP, number | tell) == HCA_OK);
    CHECK(state_of(a, number) == HCA_QP_DRAINING);
    a.run(50'000'000);
    CHECK(events(a, q) == std::vector<event>{{HCA_EVENT_SQ_DRAINED, number}});
    CHECK(requester.messages.total() == before + 2);
    a.in();
    REQUIRE(a.command(HCA_SQD2RTS_QP, number) == HCA_OK);
    bench.good_a();
    CHECK(requester.timeouts.total() == 0);
    number += 2;

    // Nothing is under way: drained at once. Without a request there is no event.
    REQUIRE(a.command(HCA_RTS2SQD_QP, qa->number | tell) == HCA_OK);
    a.run(1'000'000);
    CHECK(events(a, q) == std::vector<event>{{HCA_EVENT_SQ_DRAINED, qa->number}});
    a.in();
    REQUIRE(a.command(HCA_SQD2RTS_QP, qa->number) == HCA_OK);
    REQUIRE(a.command(HCA_RTS2SQD_QP, qa->number) == HCA_OK);
    a.run(1'000'000);
    CHECK(events(a, q).empty());
    CHECK(state_of(a, qa->number) == HCA_QP_SQD);
    // What is posted now waits.
    send_request w;
    w.opcode = HCA_OP_WRITE;
    w.list = {{0, ra.key, 100}};
    w.rkey = rb.key;
    qa->post(w);
    a.run(20'000'000);
    CHECK(!poll(a, *cq_a, 0));
    a.in();
    REQUIRE(a.command(HCA_SQD2RTS_QP, qa->number) == HCA_OK);
    bench.good_a();
    // A queue pair that fails while it is being drained says so by its completions alone.
    test_qp::settings short_timeout;
    short_timeout.rnr_retries = 1;
    bench.connect(short_timeout, number);
    send_request s;
    s.list = {{0, ra.key, bytes}};
    qa->post(s);
    a.run(300'000);
    REQUIRE(a.command(HCA_RTS2SQD_QP, number | tell) == HCA_OK);
    CHECK(state_of(a, number) == HCA_QP_DRAINING);
    const auto failed = bench.wait(a, *cq_a);
    REQUIRE(failed);
    CHECK(failed->syndrome == HCA_RNR_RETRIES_EXCEEDED);
    CHECK(events(a, q).empty());
    CHECK(state_of(a, qa->number) == HCA_QP_ERR);
}

}  // namespace

TEST_CASE("events of queue pairs") {
    calendar timeline;
    two_adapter_bench bench;
    try_communication(bench);
    try_draining(bench);
}
