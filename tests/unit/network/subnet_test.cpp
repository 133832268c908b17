// SPDX-License-Identifier: Apache-2.0
// Whole networks of traffic generators.
#include <catch2/catch.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/fault.h"
#include "network/subnet.h"
#include "unit/network/network_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;
using namespace fabricvp::time_literals;

namespace {

constexpr std::uint64_t each = 400;

struct description : subnet_params {
    void add_switch(const std::string& name, std::uint64_t lid = 0) {
        switches.emplace_back();
        switches.back().name = name;
        switches.back().lid = lid;
    }
    void add_link(const std::string& from, const std::string& to) {
        links.emplace_back();
        links.back().from = from;
        links.back().to = to;
    }
    void add_generator(const std::string& name, const std::string& at, std::uint64_t lid = 0) {
        generators.emplace_back();
        generators.back().name = name;
        generators.back().packets = each;
        generators.back().lid = lid;
        if (!at.empty()) add_link(name, at);
    }
};

/// Two spines, two leaves with three generators each.
description tree(link::traffic_pattern pattern = link::traffic_pattern::uniform) {
    description d;
    for (const auto* s : {"leaf0", "leaf1", "spine0", "spine1"}) d.add_switch(s);
    for (const auto* leaf : {"leaf0", "leaf1"})
        for (const auto* spine : {"spine0", "spine1"}) d.add_link(leaf, spine);
    for (int g = 0; g < 6; ++g) d.add_generator("g" + std::to_string(g), g < 3 ? "leaf0" : "leaf1");
    for (auto& g : d.generators) g.pattern = pattern;
    return d;
}

description ring(routing_kind routing) {
    description d;
    d.routing = routing;
    for (int s = 0; s < 5; ++s) d.add_switch("s" + std::to_string(s));
    for (int s = 0; s < 5; ++s) d.add_link("s" + std::to_string(s), "s" + std::to_string((s + 1) % 5));
    for (int s = 0; s < 5; ++s) d.add_generator("g" + std::to_string(s), "s" + std::to_string(s));
    return d;
}

/// Four switches, whose shortest ways alone cannot end in a ring.
description square(bool multicast, routing_kind routing = routing_kind::min_hop) {
    description d;
    d.routing = routing;
    for (int s = 0; s < 4; ++s) d.add_switch("s" + std::to_string(s));
    for (int s = 0; s < 4; ++s) d.add_link("s" + std::to_string(s), "s" + std::to_string((s + 1) % 4));
    for (const auto* s : {"s0", "s2", "s1", "s3"}) d.add_generator(std::string("at_") + s, s);
    if (multicast) d.multicast.emplace_back().lid = 0xc000;
    return d;
}

/// Everything that can go wrong on its links.
description rough() {
    auto d = tree();
    for (auto& l : d.links) l.bit_error_rate = 1e-6;
    for (auto& g : d.generators) g.service_levels = 8;
    for (auto& s : d.switches) s.port.buffer = {4608};
    return d;
}

description pair() {
    description d;
    d.add_generator("left", "");
    d.add_generator("right", "");
    d.add_link("left", "right");
    for (auto& g : d.generators) g.payload = {4096};
    return d;
}

description half_load() {
    auto d = pair();
    for (auto& g : d.generators) g.load = 0.5;
    return d;
}

description numbered() {
    description d;
    d.add_switch("hub", 2);
    d.add_generator("a", "hub", 7);
    d.add_generator("b", "hub");
    d.add_generator("c", "hub", 1);
    d.add_generator("d", "hub");
    return d;
}

/// Three adapters around a switch.
struct trio {
    adapter a, b, c;
    subnet net;
    explicit trio(const std::string& name)
        : a((name + "_a").c_str()),
          b((name + "_b").c_str()),
          c((name + "_c").c_str()),
          net(name.c_str(), around(), {{"a", &a.link}, {"b", &b.link}, {"c", &c.link}}) {}
    static subnet_params around() {
        description d;
        d.add_switch("hub");
        for (const auto* end : {"b", "c", "a"}) d.add_link(end, "hub");  // in another order than that of names
        return d;
    }
};

struct machines {
    calendar timeline;
    trio ordered{"ordered"};
    subnet fat{"fat", tree()}, hot{"hot", tree(link::traffic_pattern::hot_spot)},
        round{"round", ring(routing_kind::up_down)}, bad{"bad", rough()}, two{"two", pair()}, half{"half", half_load()},
        lids{"lids", numbered()}, wounded{"wounded", tree()};

    machines() {
        reject(
            "twice", [](auto& d) { d.add_link("g0", "spine0"); }, "'g0' is linked twice: it has one port");
        reject(
            "self", [](auto& d) { d.add_link("leaf0", "leaf0"); }, "a link goes from 'leaf0' to itself");
        reject(
            "unknown", [](auto& d) { d.add_link("leaf0", "leaf7"); }, "'leaf7' is none of: g0, g1");
        reject(
            "one_lid", [](auto& d) { d.generators[1].lid = d.generators[4].lid = 9; }, "g1 and g4 have one LID, 9");
        reject(
            "name", [](auto& d) { d.switches[1].name = "leaf0"; }, "the name 'leaf0' is taken twice");
        reject(
            "island",
            [](auto& d) {
                d.add_switch("island");
                d.add_generator("robinson", "island");
            },
            "there is no way from g0 to robinson");
        reject(
            "adapter", [](auto& d) { d.adapters.emplace_back().name = "node0.hca0"; },
            "there is no adapter 'node0.hca0'");
        reject(
            "unmanaged", [](auto& d) { d.subnet_manager = manager_kind::guest; },
            "it needs subnet_manager: configuration");
        reject(
            "loose", [](auto& d) { d.add_generator("loose", ""); }, "no link goes to the generator 'loose'");
        reject(
            "long",
            [](auto& d) {
                d.generators[1].payload = {4096};
                d.switches[2].port.mtu = 2048;
            },
            "the generator 'g1' sends payloads of 4096 bytes, and links on its way to");
        const auto looped = Catch::Contains("packets can wait for each other in a ring: routing: up_down has none");
        CHECK_THROWS_WITH(subnet("loop", ring(routing_kind::min_hop)), looped);
        CHECK_NOTHROW(subnet("square", square(false)));
        CHECK_THROWS_WITH(subnet("with_groups", square(true)),
                          looped);  // their tree makes turns that no other packets make
        CHECK_NOTHROW(subnet("up_and_down", square(true, routing_kind::up_down)));
    }
    static void reject(const char* name, const std::function<void(description&)>& corrupt, const char* why) {
        auto d = tree();
        corrupt(d);
        CHECK_THROWS_WITH(subnet(name, d), Catch::Contains("network: ") && Catch::Contains(why));
    }
};

machines& all() {
    static machines m;
    return m;
}

struct sums {
    std::uint64_t sent = 0, received = 0, missed = 0, late = 0, corrupt = 0, bad_icrc = 0;
};
sums sum(const subnet& n) {
    sums s;
    for (const auto& g : n.generators) {
        s.sent += g->sent.value();
        s.received += g->received.value();
        s.missed += g->missed.value();
        s.late += g->late.value();
        s.corrupt += g->corrupt.value();
        s.bad_icrc += g->bad_icrc.value();
    }
    return s;
}

double stat(const subnet& n, const std::string& what) {
    return snapshot_statistics(n.name()).at(std::string(n.name()) + "." + what);
}

void conserved(const subnet& n) {
    CHECK(stat(n, "packets.sent") == stat(n, "packets.delivered") + stat(n, "packets.dropped"));
    CHECK(stat(n, "packets.in_flight") == 0);
}

}  // namespace

TEST_CASE("everything that is sent arrives, in order, in a tree, at a hot spot, and in a ring") {
    for (auto* n : {&all().fat, &all().hot, &all().round}) {
        n->start();
        run_all();
        const auto s = sum(*n);
        CHECK(s.sent == each * (n == &all().hot ? 5 : n->generators.size()));
        CHECK(s.received == s.sent);
        CHECK(s.missed + s.late + s.corrupt == 0);
        CHECK(stat(*n, "packets.dropped") == 0);
        conserved(*n);
    }
}

TEST_CASE("both directions of a cable carry its rate, or the share that is asked for") {
    for (auto* n : {&all().two, &all().half}) {
        const auto begin = all().timeline.now();
        n->start();
        run_all();
        const double share = n == &all().two ? 1 : 0.5;
        const auto took = static_cast<double>(all().timeline.now() - begin);
        CHECK(each * (4096 + 40) * 80 / took == Approx(share).epsilon(0.005));
        CHECK(sum(*n).received == 2 * each);
    }
}

TEST_CASE("the same network runs the same way again after a reset") {
    for (auto* n : {&all().fat, &all().bad}) {
        n->start();
        run_all();
        std::map<std::string, double> seen[2];
        for (auto& s : seen) {
            n->reset();
            run_all();
            restart_statistics(n->name());
            n->reset();
            run_all();
            for (const auto& [name, value] : snapshot_statistics(n->name()))
                if (name.find("packets.") == std::string::npos && name.find("load") == std::string::npos)
                    s[name] = value;
        }
        CHECK(seen[0].size() > 100);
        for (const auto& [name, value] : seen[0]) {
            INFO(name);
            CHECK(value == seen[1][name]);
        }
    }
}

TEST_CASE("on links that err packets are lost, none twice, none out of order, none wrong, all counted") {
    auto& n = all().bad;
    n.start();
    n.reset();
    restart_statistics("bad");
    run_all();
    const auto s = sum(n);
    CHECK(s.received < s.sent);
    CHECK(s.received > s.sent * 9 / 10);
    CHECK(s.late + s.corrupt == 0);
    CHECK(s.missed <= s.sent - s.received);
    conserved(n);
}

TEST_CASE("LIDs are those that are given, and the lowest free ones in order: adapters, generators, switches") {
    const auto& n = all().lids;
    for (const auto& [who, lid] :
         std::map<std::string, unsigned>{{"a", 7}, {"b", 3}, {"c", 1}, {"d", 4}, {"hub", 2}, {"missing", 0}})
        CHECK(n.lid_of(who) == lid);
    auto& hub = *n.switches[0];
    CHECK(hub.route_of(2) == network_switch::own_port);
    CHECK(hub.route_of(7) == 1);
    CHECK(hub.route_of(1) == 3);
    CHECK(hub.route_of(5) == network_switch::no_port);
}

TEST_CASE("what arrives at one time is handed over in the order of the links' names, not of sending") {
    auto& t = all().ordered;
    for (const bool a_first : {false, true}) {
        t.c.received.clear();
        auto &first = a_first ? t.a : t.b, &second = a_first ? t.b : t.a;
        first.send(make_datagram(t.net.lid_of("c"), 100, a_first ? 1 : 2));
        second.send(make_datagram(t.net.lid_of("c"), 100, a_first ? 2 : 1));
        run_all();
        REQUIRE(t.c.received.size() == 2);
        CHECK(t.c.received[0].psn == 1);
        CHECK(t.c.received[1].psn == 2);
    }
}

TEST_CASE("a packet is counted as sent where it begins, however many links it has crossed") {
    auto& t = all().ordered;
    const auto offered = t.a.link.packets_offered.total();
    const auto p = make_datagram(t.net.lid_of("c"), 100, 3);
    p->measure();
    p->hops = 255;  // a forwarding loop has led it here
    t.c.received.clear();
    t.a.send(p);
    run_all();
    REQUIRE(t.c.received.size() == 1);
    CHECK(t.c.received[0].packet->hops == 255);
    CHECK(t.a.link.packets_offered.total() == offered);
}

TEST_CASE("destinations share the ways that are as short") {
    const auto& leaf = *all().fat.switches[0];
    std::map<unsigned, unsigned> by_port;
    for (const auto* g : {"g3", "g4", "g5"}) ++by_port[leaf.route_of(all().fat.lid_of(g))];
    CHECK(by_port.size() == 2);  // both spines
}

TEST_CASE("when a switch dies, forwarding tables follow, and what is sent later arrives") {
    auto& n = all().wounded;
    n.start();
    all().timeline.run_until(all().timeline.now() + 10_us);
    for (auto* f : all_faults())
        if (f->target() == "wounded.spine1" && f->kind() == "dead") f->order()->apply();
    run_all();
    const auto s = sum(n);
    CHECK(s.sent == 6 * each);
    CHECK(s.received < s.sent);
    CHECK(s.late + s.corrupt == 0);
    conserved(n);
    CHECK(n.sweeps.total() == 1);
    for (const auto* g : {"g3", "g4", "g5"})
        CHECK(n.switches[0]->ports[n.switches[0]->route_of(n.lid_of(g)) - 1u]->basename() == std::string("to_spine0"));
    const auto dropped = stat(n, "packets.dropped");
    for (auto& g : n.generators) g->reset();
    run_all();  // their links train
    n.start();
    run_all();
    CHECK(sum(n).received == s.received + 6 * each);
    CHECK(stat(n, "packets.dropped") == dropped);

    // The dead switch outlasts a reset of the network: forwarding tables follow again.
    const auto carried = [&n] { return n.switches[n.switches.size() - 1]->packets.total(); };
    REQUIRE(n.switches.back()->basename() == std::string("spine1"));
    const auto before = carried();
    n.reset();
    run_all();
    CHECK_FALSE(n.switches.back()->alive());
    CHECK(carried() == before);
    for (const auto* g : {"g3", "g4", "g5"})
        CHECK(n.switches[0]->ports[n.switches[0]->route_of(n.lid_of(g)) - 1u]->basename() == std::string("to_spine0"));
    conserved(n);
}

TEST_CASE("a link that a fault keeps down is down after a reset of the network, too") {
    auto& n = all().two;
    auto& port = n.generators[0]->link;
    port.faults.down.defaults.lasting = duration{1_ms};
    const auto cut = all().timeline.now();
    port.faults.down.order()->apply();
    n.reset();
    all().timeline.run_until(cut + 900_us);
    CHECK_FALSE(port.up());
    CHECK_FALSE(n.generators[1]->link.up());
    run_all();
    CHECK(port.up());
    CHECK(port.faults.down.injected.total() == 1);
}
