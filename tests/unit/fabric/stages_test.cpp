// SPDX-License-Identifier: Apache-2.0
// The registry of stages, and stages that are not this tree's: at switches, links and devices, with either end alone.
#include "unit/fabric/fabric_bench.h"

#include <algorithm>
#include <deque>
#include <map>

#include "base/fault.h"
#include "fabric/egress.h"
#include "fabric/queued_egress.h"
#include "fabric/stage_kind.h"
#include "fabric/stage_plan.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

constexpr ticks ns = 1000;

/// Holds each packet for a time before it leaves.
class holding_egress final : public egress_stage {
public:
    counter held{*this, "held", "1", "packets that waited"};
    span_stage hold_span{*this, "hold"};
    holding_egress(const char* name, ticks time) : egress_stage(name), m_time(time) {}
    bool has_room(virtual_channel, unsigned, unsigned) const override { return true; }
    void push(const packet_ptr& p) override {
        ++held;
        m_waiting.push_back({now() + m_time, p});
    }
    bool empty() const override { return m_waiting.empty(); }
    packet_ptr next(port& out) override {
        const auto& [when, p] = m_waiting.front();
        if (when > now()) {
            out.call_at(when);
            return nullptr;
        }
        if (!out.has_credit(p->channel(), p->flits)) return nullptr;
        const auto goes = p;
        m_waiting.pop_front();
        goes->pass(hold_span, span_kind::service, now());
        return goes;
    }
    packet_ptr drain() override {
        if (m_waiting.empty()) return nullptr;
        const auto p = m_waiting.front().second;
        m_waiting.pop_front();
        return p;
    }
    void reset() override {
        m_waiting.clear();
        egress_stage::reset();
    }

private:
    const ticks m_time;
    std::deque<std::pair<ticks, packet_ptr>> m_waiting;
};

/// Holds each packet for a time when it has come.
class holding_ingress final : public ingress_stage {
public:
    counter held{*this, "held", "1", "packets that waited"};
    holding_ingress(const char* name, ticks time) : ingress_stage(name), m_time(time) {}
    arrival_plan announced(const packet& p) override { return {p.destination, false, m_time, 0}; }
    const char* take(const packet_ptr& p, packet_list& complete) override {
        ++held;
        complete.push_back(p);
        return nullptr;
    }

private:
    const ticks m_time;
};

struct hold_settings final : stage_settings_of<hold_settings> {
    duration before{0}, behind{0};
    void describe(parameter_visitor& v) override {
        v.field("before", before, between{0, 1e9}, "time before the lanes");
        v.field("behind", behind, between{0, 1e9}, "time behind them");
    }
    std::unique_ptr<egress_stage> make_egress(const char* name, const stage_place&) const override {
        return before ? std::make_unique<holding_egress>(name, before) : nullptr;
    }
    std::unique_ptr<ingress_stage> make_ingress(const char* name, const stage_place&) const override {
        return behind ? std::make_unique<holding_ingress>(name, behind) : nullptr;
    }
};

struct pair_settings : stage_settings_of<pair_settings> {
    duration wait{0};
    void describe(parameter_visitor& v) override {
        v.field("wait", wait, between{0, 1e9}, "time that a packet is held for a second one");
    }
};

/// Sends packets in pairs, headers of the second one left out, and a single one when no other has come in time.
class pairing_egress final : public queued_egress {
public:
    counter pairs{*this, "pairs", "1", "pairs that went as one"};
    pairing_egress(const char* name, const pair_settings& s, const stage_place& at)
        : queued_egress(name, at), m_wait(s.wait) {}

private:
    ticks hold_time(const packet&) const override { return m_wait; }
    bool choose(const queue& waiting, selection& leaving) const override {
        if (waiting.size() > 1 && waiting[1]->destination == waiting[0]->destination) leaving.add(1);
        return leaving.size() == 2;
    }
    packet_ptr join(port& out, const packet_list& packets) override {
        ++pairs;
        const auto bytes = packets[0]->bytes + packets[1]->bytes - place.format.header.bytes;
        return make_bundle(out, packets, static_cast<std::uint32_t>(bytes));
    }
    const ticks m_wait;
};

chosen_stage hold(ticks before, ticks behind) {
    chosen_stage s;
    s.choose("hold");
    auto& h = static_cast<hold_settings&>(s.settings());
    h.before = {before};
    h.behind = {behind};
    return s;
}

chosen_stage pairs(ticks wait = 0) {
    chosen_stage s;
    s.choose("pairs");
    static_cast<pair_settings&>(s.settings()).wait = {wait};
    return s;
}

constexpr std::size_t slow = 4;  // link from cluster 0 to cluster 1

/// Cluster 0's device 0 to cluster 1's device 3, and back.
struct machines {
    calendar timeline;
    std::map<std::string, std::unique_ptr<probed_fabric>> all;
    std::map<std::string, std::unique_ptr<interconnect>> stress;
    machines() {
        add_stage_kind(make_stage_kind<hold_settings>("hold", "packets wait"));
        add_stage_kind(make_egress_kind<pair_settings, pairing_egress>("pairs", "packets go in pairs"));
        const auto add = [&](const char* name, const interconnect_params& p) {
            all[name] = std::make_unique<probed_fabric>(name, p);
        };
        add("plain", quad());
        auto p = quad();
        p.switches[0].stage = hold(7 * ns, 0);
        add("egress_of_switch", p);
        p = quad();
        p.links[slow].stage = hold(7 * ns, 0);
        add("egress_of_link", p);
        p = quad();
        p.links[slow].forward_stage = hold(7 * ns, 0);
        add("egress_forward", p);
        p = quad();
        p.links[slow].reverse_stage = hold(0, 11 * ns);
        add("ingress_reverse", p);
        p = quad();
        p.device.stage = hold(7 * ns, 11 * ns);
        add("both_of_devices", p);
        p = quad();
        p.switches[0].stage = hold(7 * ns, 0);
        p.links[slow].stage = hold(0, 11 * ns);
        add("link_before_switch", p);
        p = quad();
        p.links[0].stage = hold(0, 11 * ns);
        add("ingress_of_device", p);
        p = quad();
        for (auto& s : p.switches) s.stage = pairs();
        add("pairing", p);
        auto held = quad();
        held.switches[0].stage = pairs(30 * ns);
        add("held_pairs", held);
        const auto under_stress = [&](const char* name, const interconnect_params& with) {
            stress[name] = std::make_unique<interconnect>(name, generators(noisy(with), 400));
            stress[name]->start();
        };
        under_stress("stressed_pairs", p);
        p = ring();
        for (auto& s : p.switches) s.stage = pairs();
        p.device.stage = pairs();
        under_stress("stressed_ring", p);
        p = ring();
        for (auto& s : p.switches) s.stage = hold(3 * ns, 5 * ns);
        under_stress("stressed_holds", p);
    }
    static machines& get() {
        static machines m;
        return m;
    }
};

/// From handing over a request until it arrives, and until its response does.
std::pair<ticks, ticks> trip(const char* name) {
    auto& f = *machines::get().all.at(name);
    f.reset();
    const auto begin = calendar::current().now();
    f.probes[0]->at.send(f.probes[0]->make(3));
    run_all();
    REQUIRE(f.probes[3]->requests.size() == 1);
    REQUIRE(f.probes[0]->responses.size() == 1);
    return {f.probes[3]->requests[0].when - begin, f.probes[0]->responses[0].when - begin};
}

std::string rejection_of(const interconnect_params& p) {
    machines::get();
    try {
        stage_plan(p).check();
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "not rejected";
}

}  // namespace

TEST_CASE("a stage delays what is sent where it was chosen, and nothing else") {
    const auto [there, back] = trip("plain");
    using times = std::pair<ticks, ticks>;
    CHECK(trip("egress_of_switch") == times{there + 7 * ns, back + 14 * ns});  // towards cluster 1, and device 0
    CHECK(trip("egress_of_link") == times{there + 7 * ns, back + 14 * ns});    // both ways
    CHECK(trip("egress_forward") == times{there + 7 * ns, back + 7 * ns});
    CHECK(trip("ingress_reverse") == times{there, back + 11 * ns});
    CHECK(trip("both_of_devices") == times{there + 18 * ns, back + 36 * ns});
    CHECK(trip("link_before_switch") == times{there + 11 * ns, back + 11 * ns + 11 * ns + 7 * ns});
    CHECK(trip("held_pairs") == times{there + 30 * ns, back + 60 * ns});
    CHECK(trip("ingress_of_device") == times{there + 11 * ns, back + 22 * ns});
}

TEST_CASE("stages have statistics at the port that they stand at") {
    trip("egress_of_switch");
    CHECK(stat("egress_of_switch.cluster0.to_cluster1_egress.held") == 1);
    CHECK(stat("egress_of_switch.cluster0.to_d0_egress.held") == 1);
    trip("ingress_reverse");
    CHECK(stat("ingress_reverse.cluster0.to_cluster1_ingress.held") == 1);
    trip("both_of_devices");
    CHECK(stat("both_of_devices.d0.queue.held") == 1);
    CHECK(stat("both_of_devices.cluster1.to_d3_ingress.held") == 1);
    trip("ingress_of_device");
    CHECK(stat("ingress_of_device.d0.ingress.held") == 1);
    CHECK(stat("ingress_of_device.cluster0.to_d0_ingress.held") == 1);
}

TEST_CASE("a stage that puts packets together loses none, and the link counts what went over it") {
    auto& f = *machines::get().all.at("pairing");
    f.reset();
    for (unsigned i = 0; i < 50; ++i) f.probes[0]->at.send(f.probes[0]->make(3, access_kind::write));
    run_all();
    CHECK(f.probes[0]->responses.size() == 50);
    std::uint32_t tag = 0;
    for (const auto& r : f.probes[3]->requests) CHECK(r.tag == tag++);
    const auto at = std::string("pairing.cluster0.to_cluster1");
    const auto pairs = stat(at + "_egress.pairs");
    CHECK(pairs > 10);
    CHECK(stat(at + ".sent.packets") == 50);
    CHECK(stat(at + ".sent.wire.packets") == 50 - pairs);
    CHECK(stat(at + ".sent.wire.bytes") == 50 * 76 - pairs * 4);
}

TEST_CASE("packets arrive once and whole through stages under stress, and nothing is held for ever") {
    auto& m = machines::get();
    run_all(1'000'000'000'000);
    for (const auto& [name, net] : m.stress) {
        INFO(name);
        for (const auto* g : net->generators) {
            CHECK(g->responses.value() == 400);
            CHECK(g->corrupt.value() == 0);
            CHECK(g->unexpected.value() == 0);
        }
        CHECK(net->count_in_flight() == 0);
        for (const auto& s : net->switches) CHECK(s->malformed.value() == 0);
    }
    CHECK(stat("stressed_pairs.cluster0.to_cluster1_egress.pairs") > 50);
    CHECK(stat("stressed_ring.d0.queue.pairs") > 10);
}

TEST_CASE("a packet is held until another one joins it, and no longer than it says") {
    auto& f = *machines::get().all.at("held_pairs");
    f.reset();
    const auto time_of = [&](unsigned packets) {
        f.reset();
        const auto begin = calendar::current().now();
        for (unsigned i = 0; i < packets; ++i) f.probes[0]->at.send(f.probes[0]->make(3, access_kind::write));
        run_all();
        REQUIRE(f.probes[3]->requests.size() == packets);
        REQUIRE(f.probes[0]->responses.size() == packets);
        return f.probes[3]->requests.back().when - begin;
    };
    const auto alone = time_of(1), two = time_of(2);
    CHECK(two < alone);       // the second one ends the wait of the first one
    CHECK(time_of(3) > two);  // the third one waits for a fourth one
    const std::string at = "held_pairs.cluster0.to_cluster1_egress";
    CHECK(stat(at + ".pairs") == 1);  // since the last reset
}

TEST_CASE("a dead link gives back what a queued egress holds") {
    auto& f = *machines::get().all.at("held_pairs");
    f.reset();
    f.probes[0]->at.send(f.probes[0]->make(3));
    calendar::current().run_until(calendar::current().now() + 45 * ns);  // it is held
    for (auto* fault : all_faults())
        if (fault->target() == "held_pairs.cluster0.to_cluster1" && fault->kind() == "dead") fault->order()->apply();
    run_all();
    REQUIRE(f.probes[0]->responses.size() == 1);
    CHECK(f.probes[0]->responses[0].status == access_status::unreachable);
    f.reset();
}

TEST_CASE("a fault in a bundle poisons the packets in it") {
    auto& f = *machines::get().all.at("pairing");
    f.reset();
    const auto order = [](const std::string& target, const std::string& kind) {
        for (auto* fault : all_faults())
            if (fault->target() == target && fault->kind() == kind) return fault->order()->apply();
        FAIL("no fault");
    };
    for (unsigned i = 0; i < 8; ++i) f.probes[0]->at.send(f.probes[0]->make(3, access_kind::write));
    calendar::current().run_until(calendar::current().now() + 50 * ns);  // some wait at the switch
    order("pairing.cluster0.to_cluster1", "flip");
    run_all();
    CHECK(f.probes[0]->responses.size() == 8);
    const auto poisoned = std::count_if(f.probes[3]->requests.begin(), f.probes[3]->requests.end(),
                                        [](const auto& r) { return r.status == access_status::poisoned; });
    CHECK(poisoned == 2);
}

TEST_CASE("a dead link gives back what its stage holds") {
    auto& f = *machines::get().all.at("egress_of_link");
    f.reset();
    f.probes[0]->at.send(f.probes[0]->make(3));
    calendar::current().run_until(calendar::current().now() + 35 * ns);  // it waits in the stage
    for (auto* fault : all_faults())
        if (fault->target() == "egress_of_link.cluster0.to_cluster1" && fault->kind() == "dead")
            fault->order()->apply();
    run_all();
    REQUIRE(f.probes[0]->responses.size() == 1);
    CHECK(f.probes[0]->responses[0].status == access_status::unreachable);
    f.reset();
}

TEST_CASE("kinds have names, and each its own") {
    machines::get();
    const auto add = [](const char* name) { add_stage_kind(make_stage_kind<hold_settings>(name, "again")); };
    CHECK_THROWS_WITH(add("hold"), "there is a kind 'hold' of stages already");
    CHECK_THROWS_WITH(add("none"), "there is a kind 'none' of stages already");
    CHECK_THROWS_WITH(add("on hold"), Catch::Contains("'on hold' is no name for a kind of stage"));
    chosen_stage s;
    CHECK(s.kind() == "none");
    CHECK_THROWS_WITH(s.choose("hodl"), "no kind is called 'hodl'");
    CHECK(s.kind() == "none");
}

TEST_CASE("a stage that cannot stand where it was chosen is rejected") {
    auto p = quad();
    p.links[0].stage.choose("netcrafter");
    CHECK(rejection_of(p) == "not rejected");  // no part of it is on
    p = quad();
    p.device.stage = hold(7 * ns, 0);
    p.device.queues_by_destination = true;
    CHECK(rejection_of(p) ==
          "fabric: device.stage: with device.queues_by_destination, packets of a device wait in a queue for each "
          "destination, not in a stage");
    p = quad();
    p.links.pop_back();
    p.switches.push_back(make_switch("alone"));
    p.switches.back().stage = hold(7 * ns, 0);
    CHECK(rejection_of(p) == "fabric: alone.stage of kind hold needs a link");
}
