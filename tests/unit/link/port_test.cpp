// SPDX-License-Identifier: Apache-2.0
#include "unit/link/link_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

/// A link that is cut in the middle: what reaches an end of it goes on as a message of plain values that is delivered
/// when it is due, as between two simulations that share nothing.
class relay final : public model,
                    private tlm::tlm_fw_transport_if<note_protocol>,
                    private tlm::tlm_bw_transport_if<note_protocol> {
public:
    tlm::tlm_target_socket<32, note_protocol> in{"in"};       // from the near end's transmitter
    tlm::tlm_initiator_socket<32, note_protocol> out{"out"};  // to the near end's receiver
    unsigned messages = 0;

    relay(const sc_core::sc_module_name& name, desk& near) : model(name), m_near(near) {
        in.bind(static_cast<tlm::tlm_fw_transport_if<note_protocol>&>(*this));
        out.bind(static_cast<tlm::tlm_bw_transport_if<note_protocol>&>(*this));
        near.tx.bind(in);
        out.bind(near.rx);
    }
    void set_far(relay& far) { m_far = &far; }

private:
    struct message {
        ticks sent, due;
        bool is_packet;
        note_fields packet;
        unsigned credit_class;
        desk_traits::amounts credits;
    };
    void post(message m) {
        CHECK(m.due >= m.sent + credit_latency);  // there is time to bring it over
        ++messages;
        // The other simulation learns of it halfway.
        m_far->m_inbox.push_back(m);
        m_far->m_mail.push_back(std::make_unique<calendar_event>(method<&relay::deliver>, m_far));
        schedule(*m_far->m_mail.back(), m.sent + (m.due - m.sent) / 2);
    }
    void deliver() {
        for (auto m = m_inbox.begin(); m != m_inbox.end();) {
            if (m->sent + (m->due - m->sent) / 2 > now()) {
                ++m;
                continue;
            }
            if (m->is_packet) {
                auto what = link::phase::transfer;
                auto delay = sc_core::sc_time::from_value(m->due - now());
                auto copy = make_note(m->packet.number, m->packet.bytes, m->packet.lane_class);
                out->nb_transport_fw(*copy, what, delay);
            } else {
                m_near.credits_returned(m->credit_class, m->credits, m->due);
            }
            m = m_inbox.erase(m);
        }
    }
    tlm::tlm_sync_enum nb_transport_fw(note& n, link::phase&, sc_core::sc_time& delay) override {
        post({now(), now() + delay.value(), true, n, 0, {}});
        return tlm::TLM_ACCEPTED;
    }
    tlm::tlm_sync_enum nb_transport_bw(note& n, link::phase&, sc_core::sc_time& delay) override {
        post({now(), now() + delay.value(), false, {}, desk_traits::class_of(n), desk_traits::credits_of(n)});
        return tlm::TLM_ACCEPTED;
    }
    void b_transport(note&, sc_core::sc_time&) override {}
    bool get_direct_mem_ptr(note&, tlm::tlm_dmi&) override { return false; }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    unsigned transport_dbg(note&) override { return 0; }

    desk& m_near;
    relay* m_far = nullptr;
    std::deque<message> m_inbox;
    std::deque<std::unique_ptr<calendar_event>> m_mail;
};

constexpr desk::buffers tight{{{160, 4}, {1000, 2}}};

struct bench {
    calendar timeline;
    desk left{"left"}, right{"right"};
    desk cut_left{"cut_left"}, cut_right{"cut_right"};
    relay west{"west", cut_left}, east{"east", cut_right};
    bench() {
        link::join<desk_traits>(left, tight, right, tight);
        west.set_far(east);
        east.set_far(west);
        cut_left.set_credits(tight);
        cut_right.set_credits(tight);
    }
    static bench& get() {
        static bench b;
        run_all();
        for (auto* d : {&b.left, &b.right}) {
            auto& both = d->duplex();
            both.repair(d->local_side(), both.failed(d->local_side()));
            d->reset();
            d->clear();
        }
        return b;
    }
};

constexpr ticks transmission(std::uint64_t bytes) { return bytes * 1000 / 8 + 20 * ns + desk_latency; }

}  // namespace

TEST_CASE("packets arrive in order after serialisation, wire and device, at one event each") {
    auto& b = bench::get();
    const auto begin = b.timeline.now();
    const auto events = b.timeline.executed();
    b.left.send(make_note(1, 80));
    run_all();
    REQUIRE(b.right.received.size() == 1);
    CHECK(b.right.received[0] == desk::heard{begin + transmission(80), 1});
    CHECK(b.timeline.executed() - events == 1);
    CHECK(b.left.partner() == &b.right);
}

TEST_CASE("a transmitter waits for both kinds of credits of its class, counts that once, and says what it waits for") {
    auto& b = bench::get();
    b.right.frees = false;
    const auto stalls = b.left.credit_stalls.total();
    for (unsigned i = 0; i < 3; ++i) b.left.send(make_note(i, 60));  // 160 bytes: two fit
    run_all();
    CHECK(b.right.received.size() == 2);
    REQUIRE(b.left.waits());
    CHECK(b.left.waits()->what == "class 0 of right: 40 of 160 bytes, 2 of 4 slots");
    b.left.queue.push_front(make_note(7, 10, 1));
    b.left.queue.push_front(make_note(8, 10, 1));
    b.left.queue.push_front(make_note(9, 10, 1));
    b.left.send(make_note(10, 10));
    run_all();
    CHECK(b.right.received.size() == 4);  // of the other class two slots, though its bytes would do for more
    b.right.free_all();
    b.right.frees = true;
    run_all();
    CHECK(b.right.received.size() == 7);
    CHECK_FALSE(b.left.waits());
    CHECK(b.left.credit_stalls.total() - stalls == 2);
}

TEST_CASE("credits that are lost do not come back, until a reset") {
    auto& b = bench::get();
    b.left.drop_credits(0, {120, 0});
    b.left.send(make_note(1, 60));
    run_all();
    CHECK(b.right.received.empty());
    b.left.reset();
    b.left.clear();
    b.left.send(make_note(2, 60));
    run_all();
    CHECK(b.right.received.size() == 1);
}

TEST_CASE("a queue that is stuck is named, lets other classes pass, and goes on when it is released") {
    auto& b = bench::get();
    b.left.hold_queue(0);
    b.left.send(make_note(1, 60, 1));
    run_all();
    CHECK(b.right.received.size() == 1);
    b.right.clear();
    const auto begin = b.timeline.now();
    b.left.send(make_note(1, 60));
    run_all();
    CHECK(b.right.received.empty());
    REQUIRE(b.left.waits());
    CHECK(b.left.waits()->since == begin);
    CHECK(b.left.waits()->what == "a queue that is stuck, with class 0 of right: 160 of 160 bytes, 4 of 4 slots");
    b.left.reset();
    b.left.clear();
    b.left.send(make_note(2, 60));
    run_all();
    CHECK(b.right.received.empty());
    const auto released = b.timeline.now();
    b.left.release_queue(0);
    run_all();
    REQUIRE(b.right.received.size() == 1);
    CHECK(b.right.received[0].when == released + transmission(60));
    CHECK_FALSE(b.left.waits());
}

TEST_CASE("what waits for lanes says so, and goes on when there are some") {
    auto& b = bench::get();
    auto& both = b.left.duplex();
    CHECK(&both == &b.right.duplex());
    CHECK(b.left.local_side() == link::side::a);
    CHECK(b.right.local_side() == link::side::b);
    both.fail_lanes(link::side::a, 8);
    const auto begin = b.timeline.now();
    b.left.send(make_note(1, 80));
    b.right.send(make_note(2, 80));
    run_all();
    CHECK(b.right.received.empty());
    CHECK(b.left.received.size() == 1);
    REQUIRE(b.left.waits());
    CHECK(b.left.waits()->what == "its link to come up");
    CHECK(b.left.waits()->since == begin);
    const auto repaired = b.timeline.now();
    both.repair(link::side::a, 4);
    run_all();
    REQUIRE(b.right.received.size() == 1);
    CHECK(b.right.received[0].when == repaired + 2 * 10 * ns + 20 * ns + desk_latency);
    CHECK_FALSE(b.left.waits());
}

TEST_CASE("a reset clears what is under way") {
    auto& b = bench::get();
    for (unsigned i = 0; i < 2; ++i) b.left.send(make_note(i, 60));
    for (auto* d : {&b.left, &b.right}) {
        d->reset();
        d->queue.clear();
    }
    run_all();
    CHECK(b.right.received.empty());
    b.left.send(make_note(5, 160));  // all credits are there
    run_all();
    CHECK(b.right.received.size() == 1);
}

TEST_CASE("two ends that share nothing but messages are a link like any other") {
    auto& b = bench::get();
    const auto begin = b.timeline.now();
    const auto load = [](desk& from, unsigned first) {
        for (unsigned i = 0; i < 500; ++i) from.send(make_note(first + i, 10 + i * 37 % 150, i % 3 == 0));
    };
    load(b.left, 0);
    load(b.right, 1000);
    run_all();
    const auto again = b.timeline.now();
    load(b.cut_left, 0);
    load(b.cut_right, 1000);
    run_all();
    const auto since = [](const std::vector<desk::heard>& list, ticks t) {
        auto moved = list;
        for (auto& h : moved) h.when -= t;
        return moved;
    };
    REQUIRE(b.right.received.size() == 500);
    REQUIRE(b.left.received.size() == 500);
    CHECK(since(b.cut_right.received, again) == since(b.right.received, begin));
    CHECK(since(b.cut_left.received, again) == since(b.left.received, begin));
    CHECK(b.west.messages == 1000);
    CHECK(b.east.messages == 1000);
    CHECK(b.cut_left.partner() == nullptr);
}
