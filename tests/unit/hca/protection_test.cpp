// SPDX-License-Identifier: Apache-2.0
// What must not be done is not done: keys, bounds, rights, domains, doorbells, states. The offender hears the right
// syndrome, its queue pair ends in the error state, all its entries are flushed, and no byte outside changes.
#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

TEST_CASE("protection of a reliable connection") {
    calendar timeline;
    two_adapter_bench bench;
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    std::mt19937 random(3);
    const auto ra = a.region(8192), rb = b.region(8192, 1, driver::all_rights, 0x4000'0000);
    const auto read_only = b.region(4096, 1, local_read | remote_read, 0x5000'0000);
    const auto foreign = b.region(4096, 2, driver::all_rights, 0x6000'0000);
    const auto unwritable = a.region(4096, 1, local_read);
    fill(a, ra, random);
    for (const auto* r : {&rb, &read_only, &foreign}) fill(b, *r, random);
    std::uint32_t number = 0x20;
    const auto snapshot = [&] {
        std::vector<std::vector<std::uint8_t>> all;
        for (const auto* r : {&rb, &read_only, &foreign}) all.push_back(read(b, *r, r->address, r->bytes));
        all.push_back(read(a, ra, 0, ra.bytes));
        return all;
    };
    /// Posts one bad request, and two good ones behind it. \returns the syndrome
    const auto syndrome_of = [&](const send_request& bad, const test_qp::settings& s = {}) {
        bench.connect(s, number);
        number += 2;
        const auto before = snapshot();
        send_request good;
        good.opcode = HCA_OP_WRITE;
        good.list = {{0, ra.key, 64}};
        good.remote = rb.address;
        good.rkey = rb.key;
        good.fence = true;  // or it could be done before a read turns out to be bad
        qa->post_receive({{0, ra.key, 64}});
        qa->post({bad, good, good});
        const auto c = bench.wait(a, *cq_a);
        REQUIRE(c);
        CHECK(c->error());
        CHECK(c->wqe == qa->slot(0));
        unsigned flushed = 0;
        while (const auto f = bench.wait(a, *cq_a, 3'000'000)) {
            CHECK(f->error());
            CHECK(f->syndrome == HCA_FLUSHED);
            ++flushed;
        }
        CHECK(flushed == 3);  // two sends, a receive
        CHECK(snapshot() == before);
        CHECK(a.command(HCA_QUERY_QP, qa->number) == HCA_OK);
        CHECK(hca_get(a.out() + HCA_QP_CONTEXT, HCA_QPC_STATE) == HCA_QP_ERR);
        return c->syndrome;
    };
    // --- more than the ring holds: the doorbell is dropped, an event tells, and the queue pair has failed; another one
    // has not ---
    driver::event_queue events{1, 4, a.event_memory.back(), 0};
    const auto overflows = [&](std::uint32_t qpn) {
        unsigned found = 0;
        while (const auto* e = a.poll(events))
            found += hca_get(e, HCA_EQE_TYPE) == HCA_EVENT_WQ_CATASTROPHIC_ERROR && hca_get(e, HCA_EQE_NUMBER) == qpn;
        return found;
    };
    REQUIRE(a.command(HCA_MAP_EQ, 1, 0, std::uint64_t{1} << HCA_EVENT_WQ_CATASTROPHIC_ERROR, 0).status == HCA_OK);
    bench.connect({}, number);
    number += 2;
    test_qp other(a, number, 0x80, 0x80, 4 + 2 * (number & 0x1f), {});
    number += 2;
    other.connect(qb->number, 2);
    qa->post_receive({{0, ra.key, 64}});
    a.doorbell(test_qp::uar + 1, HCA_UAR_SEND, 17u << 24 | HCA_OP_SEND,
               qa->number << 8 | 2);  // not by another owner's page
    a.run();
    CHECK(overflows(qa->number) == 0);
    CHECK(!poll(a, *cq_a, 0));
    a.doorbell(test_qp::uar, HCA_UAR_SEND, 17u << 24 | HCA_OP_SEND, qa->number << 8 | 2);
    const auto flushed = bench.wait(a, *cq_a);
    REQUIRE(flushed);
    CHECK(flushed->syndrome == HCA_FLUSHED);
    CHECK(!flushed->is_send);
    CHECK(overflows(qa->number) == 1);
    CHECK(host.adapters[0]->bad_doorbells.total() == 2);
    const auto state_of = [&a = a](std::uint32_t qpn) {
        CHECK(a.command(HCA_QUERY_QP, qpn) == HCA_OK);
        return hca_get(a.out() + HCA_QP_CONTEXT, HCA_QPC_STATE);
    };
    CHECK(state_of(qa->number) == HCA_QP_ERR);
    CHECK(state_of(other.number) == HCA_QP_RTS);

    send_request w;
    w.opcode = HCA_OP_WRITE;
    w.list = {{0, ra.key, 100}};
    w.remote = rb.address;
    w.rkey = rb.key + 0x100;  // an unknown key
    CHECK(syndrome_of(w) == HCA_REMOTE_ACCESS);
    w.rkey = rb.key;
    w.remote = rb.address + rb.bytes - 99;
    CHECK(syndrome_of(w) == HCA_REMOTE_ACCESS);
    w.remote = rb.address - 1;
    CHECK(syndrome_of(w) == HCA_REMOTE_ACCESS);
    w.remote = ~std::uint64_t{0} - 10;
    CHECK(syndrome_of(w) == HCA_REMOTE_ACCESS);
    w.remote = read_only.address;
    w.rkey = read_only.key;
    CHECK(syndrome_of(w) == HCA_REMOTE_ACCESS);
    w.remote = foreign.address;
    w.rkey = foreign.key;
    CHECK(syndrome_of(w) == HCA_REMOTE_ACCESS);
    w.remote = rb.address;
    w.rkey = rb.key;
    test_qp::settings closed;
    closed.remote_write = closed.remote_read = closed.remote_atomic = false;
    CHECK(syndrome_of(w, closed) == HCA_REMOTE_ACCESS);
    auto r = w;
    r.opcode = HCA_OP_READ;
    CHECK(syndrome_of(r, closed) == HCA_REMOTE_ACCESS);
    r.list = {{0, unwritable.key, 100}};
    CHECK(syndrome_of(r) == HCA_LOCAL_PROTECTION);
    w.list = {{ra.bytes - 50, ra.key, 100}};
    CHECK(syndrome_of(w) == HCA_LOCAL_PROTECTION);
    w.list = {{0, ra.key ^ 0x100'0000, 100}};
    CHECK(syndrome_of(w) == HCA_LOCAL_PROTECTION);
    send_request at;
    at.opcode = HCA_OP_FETCH_ADD;
    at.list = {{0, ra.key, 8}};
    at.remote = rb.address + 4;
    at.rkey = rb.key;
    at.swap_add = 1;
    CHECK(syndrome_of(at) == HCA_REMOTE_INVALID_REQUEST);
    at.remote = read_only.address;
    at.rkey = read_only.key;
    CHECK(syndrome_of(at) == HCA_REMOTE_ACCESS);

    // --- a message longer than the entry that it gets ---
    bench.connect({}, number);
    number += 2;
    qb->post_receive({{rb.address, rb.key, 10}});
    const auto before = snapshot();
    send_request s;
    s.list = {{0, ra.key, 11}};
    qa->post(s);
    auto c = bench.wait(b, *cq_b);
    REQUIRE(c);
    CHECK(c->syndrome == HCA_LOCAL_LENGTH);
    c = bench.wait(a, *cq_a);
    REQUIRE(c);
    CHECK(c->syndrome == HCA_REMOTE_INVALID_REQUEST);
    CHECK(snapshot() == before);

    // --- no responder: retries run out; receiver never ready: the same ---
    test_qp::settings hasty;
    hasty.timeout = 1;
    hasty.retries = 2;
    hasty.rnr_retries = 1;
    bench.connect(hasty, number);
    number += 2;
    qa->post(s);
    c = bench.wait(a, *cq_a);
    REQUIRE(c);
    CHECK(c->syndrome == HCA_RNR_RETRIES_EXCEEDED);
    bench.connect(hasty, number);
    number += 2;
    CHECK(b.command(HCA_2ERR_QP, qb->number) == HCA_OK);
    w.list = {{0, ra.key, 64}};
    qa->post(w);
    c = bench.wait(a, *cq_a);
    REQUIRE(c);
    CHECK(c->syndrome == HCA_RETRIES_EXCEEDED);

    // --- doorbells that are not allowed ---
    bench.connect({}, number);
    number += 2;
    auto& bad = host.adapters[0]->bad_doorbells;
    const auto rung = bad.total();
    a.doorbell(test_qp::uar + 1, HCA_UAR_SEND, 1u << 24 | HCA_OP_SEND, qa->number << 8 | 2);  // another owner's page
    a.doorbell(test_qp::uar, HCA_UAR_SEND, 1u << 24 | 5u << 8 | HCA_OP_SEND,
               qa->number << 8 | 2);  // a counter that it has not
    a.doorbell(test_qp::uar, HCA_UAR_SEND, 1u << 24 | HCA_OP_SEND,
               (qa->number ^ 0x10'0000) << 8 | 2);  // of an older generation
    a.doorbell(test_qp::uar + 1, HCA_UAR_CQ, HCA_ARM_NEXT << 24 | 0x80, 0);
    a.run();
    CHECK(bad.total() == rung + 4);
    CHECK(!poll(a, *cq_a, 0));

    // --- after a reset nothing more is heard of a queue pair ---
    qb->post_receive({{rb.address, rb.key, 64}});
    qa->post(s);
    CHECK(a.command(HCA_2RST_QP, qa->number, 1) == HCA_OK);
    CHECK(!bench.wait(a, *cq_a, 10'000'000));
    CHECK(a.command(HCA_INIT2RTR_QP, qa->number) == HCA_BAD_INDEX);
}
