// SPDX-License-Identifier: Apache-2.0
// Reversible lanes in a fabric: on links of devices, on links between clusters, and what a kernel launch does to them.
#include "unit/fabric/fabric_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;
using link::lane_policy_kind;
using link::side;

namespace {

constexpr ticks us = 1'000'000;

/// Four sockets on one switch, 8 lanes of 8 GB/s each way.
interconnect_params sockets(lane_policy_kind policy) {
    interconnect_params p;
    p.devices = {"d0", "d1", "d2", "d3"};
    p.switches = {make_switch("hub")};
    for (const auto& d : p.devices) {
        p.links.push_back(make_link(d, "hub", 8'000'000'000));
        p.links.back().reversible.policy = policy;
    }
    return p;
}

/// Two clusters of two; only the lanes between them turn.
interconnect_params clusters() {
    auto p = quad();
    p.links.back().reversible.policy = lane_policy_kind::milic2017;
    return p;
}

/// Two clusters of two, 12 lanes to the second and 4 back; all of them may turn.
interconnect_params uneven(lane_policy_kind policy) {
    auto p = quad();
    p.links.back().forward_lanes = 12;
    p.links.back().reversible.policy = policy;
    return p;
}

struct machines {
    calendar timeline;
    probed_fabric uneven_fixed{"uneven_fixed", uneven(lane_policy_kind::none)};
    probed_fabric uneven_milic2017{"uneven_milic2017", uneven(lane_policy_kind::milic2017)};
    std::string too_many = refusal(16), max_accepted = refusal(15);
    static std::string refusal(std::uint64_t forward_lanes) {
        auto p = quad();
        p.links.back().forward_lanes = forward_lanes;
        try {
            interconnect net("refused", p);
            return {};
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
    }
    probed_fabric fixed{"fixed", sockets(lane_policy_kind::none)};
    probed_fabric milic2017{"milic2017", sockets(lane_policy_kind::milic2017)};
    probed_fabric predictive{"predictive", sockets(lane_policy_kind::predictive)};
    probed_fabric slow{"slow", clusters()};
    static machines& get() {
        static machines m;
        return m;
    }
};

/// Writes of `writers` to one device, so many each. \returns payload bytes a second that arrive
double write_rate(probed_fabric& f, unsigned to, const std::vector<unsigned>& writers, unsigned packets) {
    f.reset();
    const auto begin = calendar::current().now();
    for (unsigned i = 0; i < packets; ++i)
        for (const auto w : writers) f.probes[w]->at.send(f.probes[w]->make(to, access_kind::write));
    run_all();
    REQUIRE(f.probes[to]->requests.size() == packets * writers.size());
    const auto time = f.probes[to]->requests.back().when - begin;
    return static_cast<double>(64 * packets * writers.size()) * static_cast<double>(ticks_per_second) /
           static_cast<double>(time);
}

}  // namespace

TEST_CASE("all write to one: its ingress gains what acknowledgements leave") {
    auto& m = machines::get();
    constexpr unsigned packets = 60'000;  // 14.4 MB: 225 us without turning
    const auto fixed = write_rate(m.fixed, 0, {1, 2, 3}, packets);
    CHECK(fixed == Approx(64e9 * 64 / 80).epsilon(0.01));
    const auto milic2017 = write_rate(m.milic2017, 0, {1, 2, 3}, packets) / fixed;
    const auto predictive = write_rate(m.predictive, 0, {1, 2, 3}, packets) / fixed;
    CHECK(predictive > 1.57);
    CHECK(predictive < 1.625);
    CHECK(milic2017 > 1.25);
    CHECK(milic2017 < 1.45);  // it turns a lane too many, and back
    CHECK(stat("milic2017.lanes_d0_hub.reversals") > 20);
    CHECK(stat("predictive.lanes_d0_hub.reversals") == 5);
    // The writers' links are a third full: nothing turns there.
    CHECK(stat("predictive.lanes_d1_hub.reversals") == 0);
    CHECK(stat("predictive.hub.to_d0.transmitter.packets") == 3 * packets);
}

TEST_CASE("a slow link between clusters turns its lanes, too") {
    auto& f = machines::get().slow;
    const auto rate = write_rate(f, 2, {0, 1}, 40'000);
    CHECK(rate > 16e9 * 64 / 80 * 1.3);
    CHECK(rate < 16e9 * 64 / 80 * 1.625);
    CHECK(stat("slow.lanes_cluster0_cluster1.reversals") >= 5);
}

TEST_CASE("a launch concerns the links that the device's packets pass") {
    auto& m = machines::get();
    auto& f = m.slow;
    f.reset();
    auto& between = f.net.switches[0]->at(2).duplex();
    for (unsigned device = 0; device < 4; ++device) {
        REQUIRE(between.reverse(side::a, 2) == 2);
        calendar::current().run_until(calendar::current().now() + us);
        run_all();
        CHECK(between.lanes(side::a) == 10);
        f.net.terminals[device]->kernel_launched();
        run_all();
        CHECK(between.lanes(side::a) == 8);
    }
    CHECK(stat("slow.lanes_cluster0_cluster1.restored_lanes") == 8);
    // The others' own links are not its.
    auto& four = m.milic2017;
    four.reset();
    for (unsigned d = 0; d < 4; ++d) four.net.terminals[d]->link->duplex().reverse(side::a, 3);
    run_all();
    four.net.terminals[2]->kernel_launched();
    run_all();
    for (unsigned d = 0; d < 4; ++d) CHECK(four.net.terminals[d]->link->duplex().lanes(side::a) == (d == 2 ? 8 : 11));
}

TEST_CASE("a link may begin with more lanes one way than the other") {
    auto& m = machines::get();
    CHECK(
        m.too_many ==
        "fabric: forward_lanes of 16 from 'cluster0' to 'cluster1': the link has 16 lanes, and one at least must lead "
        "back");
    CHECK(m.max_accepted.empty());
    CHECK(write_rate(m.uneven_fixed, 2, {0, 1}, 10'000) == Approx(24e9 * 64 / 80).epsilon(0.01));
    CHECK(write_rate(m.uneven_fixed, 0, {2, 3}, 10'000) == Approx(8e9 * 64 / 80).epsilon(0.01));
    // Turned lanes gain on that, and a launch goes back to it.
    auto& f = m.uneven_milic2017;
    CHECK(write_rate(f, 0, {2, 3}, 40'000) > 8e9 * 64 / 80 * 1.5);
    auto& lanes = f.net.links().back().a->duplex();
    CHECK(lanes.lanes(side::b) > 8);
    f.net.terminals[0]->kernel_launched();
    run_all();
    CHECK(lanes.lanes(side::a) == 12);
    CHECK(lanes.lanes(side::b) == 4);
}

TEST_CASE("the same lanes reverse at the same times whenever a run is repeated") {
    auto& f = machines::get().milic2017;
    const auto run = [&] {
        write_rate(f, 1, {0, 2, 3}, 5'000);
        auto all = snapshot_statistics("milic2017");
        return all;
    };
    run();
    CHECK(run() == run());
}
