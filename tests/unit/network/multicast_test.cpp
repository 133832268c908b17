// SPDX-License-Identifier: Apache-2.0
// Packets for groups: each member gets one, from any sender, over a tree of switches; nothing is lost uncounted.
#include "unit/network/network_bench.h"

#include <map>
#include <optional>

#include "network/subnet.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

constexpr std::uint16_t to_all = 0xc000, to_some = 0xc001, to_nobody = 0xc002, to_far = 0xc003;

/// a, b — s0 — s1 — c, s1 — s3 — e, and s0 — s2 — d, with one more cable between s1 and s2.
subnet_params shape() {
    subnet_params p;
    p.routing = routing_kind::up_down;
    for (const auto* s : {"s0", "s1", "s2", "s3"}) {
        p.switches.emplace_back();
        p.switches.back().name = s;
    }
    for (const auto& [from, to] : {std::pair{"a", "s0"},
                                   {"b", "s0"},
                                   {"s0", "s1"},
                                   {"s1", "c"},
                                   {"s0", "s2"},
                                   {"s2", "d"},
                                   {"s1", "s2"},
                                   {"s3", "s1"},
                                   {"s3", "e"}}) {
        p.links.emplace_back();
        p.links.back().from = from;
        p.links.back().to = to;
    }
    p.multicast.resize(3);
    p.multicast[0].lid = to_all;
    p.multicast[1].lid = to_some;
    p.multicast[1].members = {"b", "d"};
    p.multicast[2].lid = to_far;
    p.multicast[2].members = {"e"};
    return p;
}

struct machines {
    calendar timeline;
    adapter a{"a"}, b{"b"}, c{"c"}, d{"d"}, e{"e"};
    subnet net{"net", shape(), {{"a", &a.link}, {"b", &b.link}, {"c", &c.link}, {"d", &d.link}, {"e", &e.link}}};
    std::map<std::string, adapter*> all{{"a", &a}, {"b", &b}, {"c", &c}, {"d", &d}, {"e", &e}};
};

machines& everything() {
    static machines m;
    return m;
}

packet_ptr for_group(std::uint16_t lid, std::size_t bytes, std::uint32_t psn) {
    const auto p = make_datagram(lid, bytes, psn);
    p->bth.destination_qp = multicast_qp;
    p->lrh.global = true;
    return p;
}

/// Who has got packets of which PSN since the last time, in order.
std::map<std::string, std::vector<std::uint32_t>> heard(std::size_t bytes) {
    std::map<std::string, std::vector<std::uint32_t>> found;
    for (auto& [name, at] : everything().all) {
        for (const auto& h : at->received) {
            found[name].push_back(h.psn);
            CHECK(h.packet->payload.length == bytes);
            for (std::size_t i = 0; i < bytes; ++i)
                if (h.packet->payload.data()[i] != static_cast<std::uint8_t>(h.psn + i)) {
                    FAIL_CHECK("byte " << i);
                    break;
                }
        }
        at->received.clear();
    }
    return found;
}

double value(const char* name) { return snapshot_statistics("net").at(name); }

void all_accounted() {
    CHECK(value("net.packets.in_flight") == 0);
    CHECK(value("net.packets.sent") + value("net.packets.copied") ==
          value("net.packets.delivered") + value("net.packets.dropped"));
}

using who = std::map<std::string, std::vector<std::uint32_t>>;

}  // namespace

TEST_CASE("groups that cannot be are refused") {
    const auto refusal = [](auto change) -> std::string {
        auto p = shape();
        change(p);
        try {
            subnet second("second", p,
                          {{"a", &everything().a.link},
                           {"b", &everything().b.link},
                           {"c", &everything().c.link},
                           {"d", &everything().d.link},
                           {"e", &everything().e.link}});
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return {};
    };
    CHECK(refusal([](auto& p) { p.multicast[0].lid = 7; }) ==
          "network: 7 is no multicast LID (allowed: 49152 … 65534)");
    CHECK(refusal([](auto& p) { p.multicast[0].lid = 0xffff; }) ==
          "network: 65535 is no multicast LID (allowed: 49152 … 65534)");
    CHECK(refusal([](auto& p) { p.multicast[0].lid = to_some; }) == "network: the multicast LID 49153 is taken twice");
    CHECK(refusal([](auto& p) {
              p.multicast[1].members = {"b", "x"};
          }) == "network: there is no adapter 'x'; the first one is a");
    CHECK(refusal([](auto& p) { p.subnet_manager = manager_kind::guest; }) ==
          "network: multicast needs subnet_manager: configuration; a guest's makes groups by itself");
}

TEST_CASE("every member hears once, the sender not at all") {
    auto& m = everything();
    m.a.send(for_group(to_all, 100, 1));
    run_all();
    CHECK(heard(100) == who{{"b", {1}}, {"c", {1}}, {"d", {1}}, {"e", {1}}});
    m.d.send(for_group(to_all, 2048, 2));
    run_all();
    CHECK(heard(2048) == who{{"a", {2}}, {"b", {2}}, {"c", {2}}, {"e", {2}}});
    // Members or not may send to a group of some.
    m.b.send(for_group(to_some, 1, 3));
    run_all();
    CHECK(heard(1) == who{{"d", {3}}});
    m.c.send(for_group(to_some, 5, 4));
    run_all();
    CHECK(heard(5) == who{{"b", {4}}, {"d", {4}}});
    m.d.send(for_group(to_far, 7, 5));
    run_all();
    CHECK(heard(7) == who{{"e", {5}}});
    m.e.send(for_group(to_some, 8, 6));
    run_all();
    CHECK(heard(8) == who{{"b", {6}}, {"d", {6}}});
    all_accounted();
    CHECK(value("net.packets.dropped") == 0);
}

TEST_CASE("a packet for an unknown group is dropped and counted") {
    everything().a.send(for_group(to_nobody, 10, 1));
    run_all();
    CHECK(heard(10).empty());
    CHECK(value("net.s0.to_a.dropped.no_route") == 1);
    all_accounted();
}

TEST_CASE("a member that takes nothing holds up the others, and nothing is lost") {
    auto& m = everything();
    m.d.keeps = true;
    constexpr unsigned packets = 200;
    who expected;
    for (std::uint32_t i = 0; i < packets; ++i) {
        m.a.send(for_group(to_all, 2000, i));
        for (const auto* name : {"b", "c", "d", "e"}) expected[name].push_back(i);
    }
    run_all();
    CHECK(m.d.received.size() < packets);
    CHECK(m.b.received.size() < packets);
    CHECK(value("net.packets.in_flight") > 0);
    // What waits in the first switch has room in its buffer: at most three copies of each packet.
    const auto& from_a = *m.net.switches[0]->ports[0];
    CHECK(m.net.switches[0]->waiting() <= 3 * (from_a.params.buffer.bytes / 64 / ((2000 + 74 + 63) / 64)));
    m.d.keeps = false;
    auto kept = std::move(m.d.received);
    m.d.received.clear();
    for (const auto& h : kept) m.d.link.release(*h.packet, calendar::current().now());
    run_all();
    m.d.received.insert(m.d.received.begin(), kept.begin(), kept.end());
    CHECK(heard(2000) == expected);
    all_accounted();
}

TEST_CASE("when a cable goes down, the tree follows") {
    auto& m = everything();
    m.net.switches[0]->ports[3]->hold_down();  // to s2, which is still reached through s1
    run_all();
    m.a.send(for_group(to_all, 64, 9));
    run_all();
    CHECK(heard(64) == who{{"b", {9}}, {"c", {9}}, {"d", {9}}, {"e", {9}}});
    all_accounted();
}
