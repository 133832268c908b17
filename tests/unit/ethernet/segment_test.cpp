// SPDX-License-Identifier: Apache-2.0
// Stations behind switches: which frames reach which station, when, and what is rejected.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "ethernet/segment.h"

using namespace fabricvp;
using namespace fabricvp::ethernet;

namespace {

/// Keeps what it hears, with the time.
class station final : public model, private port_owner {
public:
    ethernet::port port;
    const address own;
    std::vector<std::pair<ticks, frame_ptr>> heard;

    station(const sc_core::sc_module_name& name, address own, std::vector<std::string>* order = nullptr)
        : model(name), port("port", {}, *this), own(own), m_order(order) {}

    void send(address to, std::size_t bytes = 100) { send_as(own, to, bytes); }
    void send_as(address from, address to, std::size_t bytes = 100) {
        const auto slice = allocate_slice(bytes);
        for (std::size_t i = 0; i < bytes; ++i) slice.data()[i] = static_cast<std::uint8_t>(own + i);
        for (unsigned i = 0; i < 6; ++i) {
            slice.data()[i] = static_cast<std::uint8_t>(to >> 8 * (5 - i));
            slice.data()[6 + i] = static_cast<std::uint8_t>(from >> 8 * (5 - i));
        }
        port.send(make_frame(slice));
    }

private:
    void frame_arrived(ethernet::port&, const frame_ptr& f) override {
        heard.emplace_back(now(), f);
        if (m_order) m_order->push_back(basename());
    }
    void space_available(ethernet::port&) override {}
    std::vector<std::string>* m_order;
};

segment_params described(const std::vector<std::string>& switches,
                         const std::vector<std::pair<std::string, std::string>>& links) {
    segment_params p;
    for (const auto& s : switches) {
        p.switches.emplace_back();
        p.switches.back().name = s;
        p.switches.back().addresses = 4;
        p.switches.back().ageing = {1'000'000'000};
        p.switches.back().port.queue = 4;
    }
    for (const auto& [from, to] : links) {
        p.links.emplace_back();
        p.links.back().from = from;
        p.links.back().to = to;
    }
    return p;
}

constexpr address broadcast = 0xffff'ffff'ffff;

/// a and b at s0, c and d at s1, between them a cable. What arrives at one time is handed over by path, whatever
/// stations are called in a configuration: d stands before c.
struct machines {
    calendar timeline;
    std::vector<std::string> order;
    station a{"a", 0x02'0000'0000'0a}, b{"b", 0x02'0000'0000'0b}, c{"z_c", 0x02'0000'0000'0c, &order},
        d{"y_d", 0x02'0000'0000'0d, &order};
    segment net{"net",
                described({"s0", "s1"}, {{"a", "s0"}, {"b", "s0"}, {"s0", "s1"}, {"c", "s1"}, {"d", "s1"}}),
                {{"a", a.own, &a.port}, {"b", b.own, &b.port}, {"c", c.own, &c.port}, {"d", d.own, &d.port}}};

    std::vector<station*> stations() { return {&a, &b, &c, &d}; }
    /// Time passes even if nothing happens.
    void run(ticks time = 100'000'000) {
        timeline.schedule(m_end, timeline.now() + time);
        timeline.run_until(m_end.when());
    }
    void clear() {
        for (auto* s : stations()) s->heard.clear();
        order.clear();
    }
    std::string receivers() {
        std::string all;
        for (auto* s : stations()) all += std::to_string(s->heard.size());
        return all;
    }

private:
    void nothing() {}
    calendar_event m_end{method<&machines::nothing>, this};
};

machines& all() {
    static machines m;
    return m;
}

}  // namespace

TEST_CASE("what does not fit is refused in one line") {
    auto& m = all();
    const auto refused = [&](const std::vector<std::string>& switches,
                             const std::vector<std::pair<std::string, std::string>>& links) -> std::string {
        try {
            segment bad("bad", described(switches, links), {{"a", 1, &m.a.port}, {"b", 2, &m.b.port}});
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "not refused";
    };
    CHECK(refused({"s"}, {{"a", "q"}}) == "ethernet: 'q' is none of: a, b, s");
    CHECK(refused({"s", "t"}, {{"a", "s"}, {"a", "t"}}) == "ethernet: 'a' is linked twice: it has one port");
    CHECK(refused({"s"}, {{"s", "s"}}) ==
          "ethernet: the link from 's' to 's' closes a ring, in which frames would go round for ever");
    CHECK(refused({"s", "t", "u"}, {{"s", "t"}, {"t", "u"}, {"u", "s"}}) ==
          "ethernet: the link from 'u' to 's' closes a ring, in which frames would go round for ever");
    CHECK(refused({"s", "s"}, {}) == "ethernet: the name 's' is taken twice");
    CHECK(refused({"s t"}, {}) == "ethernet: 's t' is no name for a switch: give letters, digits and _");
    try {
        segment twice("twice", {}, {{"a", 1, &m.a.port}, {"b", 1, &m.b.port}});
        FAIL("two stations have one address");
    } catch (const std::invalid_argument& e) {
        CHECK(std::string(e.what()) == "ethernet: a and b have one address, 00:00:00:00:00:01");
    }
}

TEST_CASE("a frame crosses links and switches in the time that they take") {
    auto& m = all();
    const auto begin = calendar::current().now();
    m.a.send(m.c.own, 476);
    m.run();
    CHECK(m.receivers() == "0111");  // the bridge does not know yet where c is
    REQUIRE(m.c.heard.size() == 1);
    // Three links of 1.25 GB/s and 50 ns, and two switches that take 500 ns each when they have all of it.
    CHECK(m.c.heard[0].first - begin == 3 * (500 * 800 + 50'000) + 2 * 500'000);
    CHECK(m.c.heard[0].second->bytes.length == 476);
    CHECK(m.c.heard[0].second->bytes.data()[100] == static_cast<std::uint8_t>(m.a.own + 100));
    m.clear();
}

TEST_CASE("switches learn where stations are, and clear those that are silent") {
    auto& m = all();
    m.c.send(m.a.own);
    m.run();
    CHECK(m.receivers() == "1000");
    m.clear();
    m.a.send(m.c.own);
    m.b.send(m.a.own);
    m.run();
    CHECK(m.receivers() == "1010");
    m.clear();
    m.a.send(broadcast);
    m.b.send(0x0100'5e00'0001);
    m.run();
    CHECK(m.receivers() == "1122");
    m.clear();
    m.run(1'000'000'000);  // as long as they remember
    m.a.send(m.c.own);
    m.run();
    CHECK(m.receivers() == "0111");
    m.clear();
    // A station that has moved is where it was heard last.
    auto& s0 = *m.net.switches[0];
    CHECK(s0.port_of(m.a.own) == s0.ports[0].get());
    const auto forwarded = m.net.switches[1]->forwarded.total();
    m.c.send(m.a.own);
    m.run();
    CHECK(m.net.switches[1]->forwarded.total() == forwarded + 1);
    m.clear();
    // Now it moves to where b is, and back.
    m.b.send_as(m.a.own, m.c.own);
    m.run();
    CHECK(s0.port_of(m.a.own) == s0.ports[1].get());
    m.clear();
    m.c.send(m.a.own);
    m.run();
    CHECK(m.receivers() == "0100");
    m.a.send(m.c.own);
    m.run();
    CHECK(s0.port_of(m.a.own) == s0.ports[0].get());
    m.clear();
    // Addresses of groups belong to no station, even if a frame claims so.
    constexpr address group = 0x0100'5e00'0002;
    m.a.send_as(group, m.c.own);
    m.run();
    CHECK(s0.port_of(group) == nullptr);
    CHECK(s0.port_of(broadcast) == nullptr);
    m.clear();
}

TEST_CASE("a frame for a station on the link that it came by goes no further") {
    auto& m = all();
    m.d.send(broadcast);
    m.c.send(broadcast);
    m.run();
    m.clear();
    auto& s0 = *m.net.switches[0];
    const auto before = s0.filtered.total();
    // To s0, d is behind s1: as if a hub lay between, s1 sends it what is for d.
    m.net.switches[1]->reset();
    m.c.send(m.d.own);
    m.run();
    CHECK(s0.filtered.total() == before + 1);
    CHECK(m.receivers() == "0001");
    m.clear();
}

TEST_CASE("what arrives at one time is handed over by the names of the receiving ends") {
    auto& m = all();
    m.a.send(broadcast);
    m.run();
    CHECK(m.order == std::vector<std::string>{"y_d", "z_c"});
    CHECK(m.c.heard[0].first == m.d.heard[0].first);
    m.clear();
}

TEST_CASE("what finds no room at a switch is dropped and counted") {
    auto& m = all();
    m.d.send(broadcast);
    m.run();
    m.clear();
    for (unsigned i = 0; i < 50; ++i)
        for (auto* s : {&m.a, &m.b, &m.c}) s->send(m.d.own, 1000);
    m.run();
    std::uint64_t lost = 0;
    for (const auto& s : m.net.switches)
        for (const auto& p : s->ports) lost += p->dropped.total();
    CHECK(m.d.heard.size() + lost == 150);
    CHECK(m.d.heard.size() > 50);
    CHECK(lost > 20);
    m.clear();
}

TEST_CASE("a full memory of stations learns no new one until one is dropped") {
    auto& m = all();
    auto& s0 = *m.net.switches[0];
    m.net.reset();
    const auto pretend = [&](address who) {
        auto slice = allocate_slice(60);
        for (unsigned i = 0; i < 12; ++i)
            slice.data()[i] = static_cast<std::uint8_t>((i < 6 ? broadcast : who) >> 8 * (5 - i % 6));
        m.a.port.send(make_frame(slice));
        m.run();
    };
    for (address n = 1; n <= 5; ++n) pretend(0x02'0000'0000'10 + n);
    CHECK(s0.port_of(0x02'0000'0000'14) == s0.ports[0].get());
    CHECK(s0.port_of(0x02'0000'0000'15) == nullptr);
    m.run(900'000'000);
    pretend(0x02'0000'0000'15);
    CHECK(s0.port_of(0x02'0000'0000'15) == s0.ports[0].get());
    CHECK(s0.port_of(0x02'0000'0000'11) == nullptr);
    m.clear();
}
