// SPDX-License-Identifier: Apache-2.0
// Links whose ends only exchange messages, as bytes, long after they were sent: they do what whole links do.
#include "unit/network/network_bench.h"

#include <memory>
#include <random>

#include "link/far_end.h"
#include "network/link_message.h"
#include "unit/network/packet_samples.h"

using namespace fabricvp;
using namespace fabricvp::test;
using namespace fabricvp::time_literals;

namespace {

constexpr ticks flight = 10'000;

port_params small() {
    port_params p;
    p.buffer = {8192};
    p.credit_latency = {2'000'000};  // so that packets wait for credits
    p.retrain_time = {50'000};
    return p;
}

/// Two links with the same traffic; one of them is cut.
struct machines {
    calendar timeline;
    adapter a{"a", small()}, b{"b", small()}, cut_a{"cut_a", small()}, cut_b{"cut_b", small()};
    message_bytes in_flight;
    far_end beyond_a{"beyond_a", cut_a.link, 1, [this](const auto& m) { append(in_flight, link_message{m}); }};
    far_end beyond_b{"beyond_b", cut_b.link, 0, [this](const auto& m) { append(in_flight, link_message{m}); }};
    std::size_t messages = 0;

    machines() {
        link_params cable;
        cable.propagation = {flight};
        connect(a.link, b.link, cable);
        connect(cut_a.link, beyond_a, small(), cable);
        connect(cut_b.link, beyond_b, small(), cable);
        for (auto* end : {&a, &cut_a}) end->link.configure(1);
        for (auto* end : {&b, &cut_b}) end->link.configure(2);
    }

    /// Windows of one time of flight, at whose ends both sides hear what the other one has said in them.
    void run(ticks until) {
        while (timeline.now() < until) {
            timeline.run_until(std::min(until, (timeline.now() / flight + 1) * flight - 1));
            for (std::size_t at = 0; at < in_flight.size(); ++messages) {
                const auto m = take_message(in_flight, at);
                (m.end == 0 ? beyond_a : beyond_b).receive(m);
            }
            in_flight.clear();
            if (timeline.next_event_time() == never) return;
            if ((timeline.now() + 1) % flight == 0) timeline.run_until(timeline.now() + 1);
        }
    }
    void send(int from_a, int from_b) {
        for (int i = 0; i < std::max(from_a, from_b); ++i)
            for (auto* end : {&a, &b, &cut_a, &cut_b}) {
                const bool first = end == &a || end == &cut_a;
                if (i < (first ? from_a : from_b))
                    end->send(make_datagram(first ? 2 : 1, static_cast<std::size_t>(64 + 977 * i % 4000),
                                            static_cast<std::uint32_t>(i), static_cast<std::uint8_t>(i % 3)));
            }
    }
    void check_equal() const {
        for (const auto& [whole, cut] : {std::pair(&a, &cut_a), std::pair(&b, &cut_b)}) {
            REQUIRE(whole->received.size() == cut->received.size());
            for (std::size_t i = 0; i < whole->received.size(); ++i) {
                const auto &w = whole->received[i], &c = cut->received[i];
                CHECK(w.when == c.when);
                CHECK(w.psn == c.psn);
                CHECK(w.lane == c.lane);
                REQUIRE(w.packet->payload.length == c.packet->payload.length);
                CHECK(std::equal(w.packet->payload.data(), w.packet->payload.data() + w.packet->payload.length,
                                 c.packet->payload.data()));
            }
            CHECK(whole->states == cut->states);
            CHECK(whole->link.credit_stalls.total() == cut->link.credit_stalls.total());
            CHECK(whole->link.packets_sent.total() == cut->link.packets_sent.total());
            CHECK(whole->link.link_downs.total() == cut->link.link_downs.total());
            for (unsigned r = 0; r < drop_reasons; ++r)
                CHECK(whole->link.dropped(static_cast<drop_reason>(r)).total() ==
                      cut->link.dropped(static_cast<drop_reason>(r)).total());
        }
    }
};

}  // namespace

TEST_CASE("messages of links are the same behind the bytes") {
    std::mt19937_64 random(7);
    message_bytes bytes;
    std::vector<link_message> sent;
    for (const unsigned opcode : {0x00u, 0x04u, 0x0au, 0x0cu, 0x10u, 0x12u, 0x13u, 0x14u, 0x64u, 0x65u}) {
        link_message m;
        m.what = link::message_kind::packet;
        m.end = opcode;
        m.sent = random() >> 1;
        m.when = m.sent + 5;
        m.packet = make_sample(static_cast<std::uint8_t>(opcode), random, opcode % 3 == 0);
        m.packet->head = m.when;
        m.packet->corrupted = corruption::payload;
        sent.push_back(m);
        append(bytes, m);
    }
    link_message credits;
    credits.what = link::message_kind::credits;
    credits.credit_class = 3;
    credits.credits = {65};
    credits.end = 77;
    credits.sent = 123;
    credits.when = never - 1;
    append(bytes, credits);
    std::size_t at = 0;
    for (const auto& m : sent) {
        const auto got = take_message(bytes, at);
        CHECK(got.what == m.what);
        CHECK(got.end == m.end);
        CHECK(got.sent == m.sent);
        CHECK(got.when == m.when);
        const auto &p = *m.packet, &q = *got.packet;
        CHECK(q.head == p.head);
        CHECK(q.corrupted == p.corrupted);
        CHECK(q.lrh.dlid == p.lrh.dlid);
        CHECK(q.bth.psn == p.bth.psn);
        CHECK(q.atomic.compare == p.atomic.compare);
        CHECK(q.grh.destination == p.grh.destination);
        CHECK(q.invalidated_rkey == p.invalidated_rkey);
        REQUIRE(q.payload.length == p.payload.length);
        if (p.payload) CHECK(std::equal(p.payload.data(), p.payload.data() + p.payload.length, q.payload.data()));
    }
    const auto got = take_message(bytes, at);
    CHECK(got.what == link::message_kind::credits);
    CHECK(got.credit_class == 3);
    CHECK(got.credits[0] == 65);
    CHECK(got.when == never - 1);
    CHECK(at == bytes.size());
    bytes.pop_back();
    at = 0;
    for (std::size_t i = 0; i < sent.size(); ++i) take_message(bytes, at);
    CHECK_THROWS_WITH(take_message(bytes, at), Catch::Contains("ends in its middle"));
}

TEST_CASE("a link that is cut does what a whole one does") {
    machines m;
    m.send(60, 25);  // more than the buffers hold
    m.run(60'000'000);
    CHECK(m.a.link.credit_stalls.total() > 0);
    CHECK(m.b.received.size() == 60);
    m.check_equal();
    // Down from one end while packets are under way both ways, and up again.
    m.send(40, 40);
    m.run(m.timeline.now() + 400'000);
    for (auto* end : {&m.a, &m.cut_a}) end->link.hold_down();
    m.run(m.timeline.now() + 200'000);
    for (auto* end : {&m.a, &m.cut_a}) end->link.start_training();
    m.run(m.timeline.now() + 500'000);
    CHECK(m.a.link.dropped(drop_reason::link_down).total() + m.b.link.dropped(drop_reason::link_down).total() > 0);
    CHECK(m.cut_b.link.link_downs.total() == 1);
    CHECK(m.cut_b.link.up());
    m.send(5, 5);
    m.run(m.timeline.now() + 60'000'000);
    m.check_equal();
    CHECK(m.messages > 200);
}
