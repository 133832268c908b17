// SPDX-License-Identifier: Apache-2.0
// NetCrafter and reversible lanes on one link: reversed lanes change its rate, nothing is lost, and small buffers stop
// nothing.
#include "unit/fabric/fabric_bench.h"

#include "fabric/netcrafter/controller.h"
#include "fabric/netcrafter/settings.h"

using namespace fabricvp;
using namespace fabricvp::test;
using link::lane_policy_kind;
using link::side;

namespace {

constexpr std::uint64_t each = 1500;

netcrafter::parameters all_parts() {
    netcrafter::parameters n;
    n.stitching = n.trimming = true;
    n.pooling = netcrafter::pooling_mode::selective;
    n.sequencing = netcrafter::sequencing_mode::page_tables;
    // Where each head waits for a window of its own, a stream of writes leaves the link idle, and no lane reverses.
    n.window_from = netcrafter::window_start::arrival;
    return n;
}

interconnect_params both(lane_policy_kind policy, ticks sample = 5'000'000) {
    auto p = quad();
    for (auto& s : p.switches) netcrafter::use(s.stage) = all_parts();
    p.links.back().reversible.policy = policy;
    p.links.back().reversible.sample_time = {sample};
    return p;
}

/// Generators in the place of the devices; the first half writes, the second half reads, so that one way has more to
/// carry.
interconnect_params stress(interconnect_params p) {
    unsigned n = 0;
    for (const auto& d : std::exchange(p.devices, {})) {
        interconnect_params::generator_node g;
        g.name = d;
        g.pattern = traffic_pattern::hot_spot;
        g.hot_spot = n < 2 ? 3 : 0;
        g.hot_share = 0.7;
        g.requests = each;
        g.writes = n < 2 ? 0.9 : 0.1;
        g.page_tables = g.atomics = 0.2;
        g.one_sector = 0.5;
        g.seed = ++n;
        p.generators.push_back(g);
    }
    return p;
}

interconnect_params tiny(interconnect_params p) {
    p.device.input.entries = 10;
    p.device.serving = 1;
    for (auto& s : p.switches) s.input.entries = s.output_entries = netcrafter::use(s.stage).entries = 10;
    return p;
}

struct machines {
    calendar timeline;
    probed_fabric fixed{"fixed", both(lane_policy_kind::none)};
    probed_fabric milic2017{"milic2017", both(lane_policy_kind::milic2017)};
    probed_fabric predictive{"predictive", both(lane_policy_kind::predictive)};
    std::vector<std::unique_ptr<interconnect>> stressed;
    machines() {
        const auto add = [&](const char* name, const interconnect_params& p) {
            stressed.push_back(std::make_unique<interconnect>(name, stress(p)));
            stressed.back()->start();
        };
        add("storm_milic2017", both(lane_policy_kind::milic2017, 200'000));
        add("storm_symmetric", both(lane_policy_kind::symmetric, 200'000));
        add("storm_predictive", both(lane_policy_kind::predictive, 200'000));
        // Devices that serve one request at a time do not saturate the link: less counts as such.
        auto unhurried = tiny(both(lane_policy_kind::milic2017, 200'000));
        unhurried.links.back().reversible.threshold = 0.1;
        add("storm_tiny", unhurried);
        auto noisy = unhurried;
        noisy.links.back().reversible.policy = lane_policy_kind::predictive;
        noisy.links.back().bit_error_rate = 1e-4;
        add("storm_noisy", noisy);
    }
    static machines& get() {
        static machines m;
        return m;
    }
};

/// Bytes a second of lines that reach d2, written by d0 and d1.
double write_rate(probed_fabric& f) {
    f.reset();
    constexpr unsigned packets = 20'000;
    const auto begin = calendar::current().now();
    for (unsigned i = 0; i < packets; ++i)
        for (const unsigned w : {0u, 1u}) f.probes[w]->at.send(f.probes[w]->make(2, access_kind::write));
    run_all();
    CHECK(f.probes[2]->requests.size() == 2 * packets);
    CHECK(f.probes[0]->responses.size() == packets);
    CHECK(f.probes[1]->responses.size() == packets);
    return 64.0 * 2 * packets * static_cast<double>(ticks_per_second) /
           static_cast<double>(f.probes[2]->requests.back().when - begin);
}

void check_whole(const interconnect& net) {
    INFO(net.name());
    double served = 0;
    for (const auto& g : net.generators) {
        CHECK(g->finished());
        CHECK(g->corrupt.value() == 0);
        CHECK(g->refused.value() == 0);
        CHECK(g->unexpected.value() == 0);
        CHECK(g->responses.value() == each);
        served += static_cast<double>(g->served.value());
    }
    CHECK(served == each * static_cast<double>(net.generators.size()));
    const auto& slow = net.links().back();
    for (unsigned cluster = 0; cluster < 2; ++cluster) {
        const auto& c = dynamic_cast<const netcrafter::controller&>(net.switches[cluster]->egress_of(2));
        CHECK(c.empty());
        CHECK(c.packets.value() == c.left.value());
        CHECK(c.stitched.value() + c.stitched_ends.value() > 0);
    }
    CHECK(slow.lanes->reversals.value() > 5);
    const auto& lanes = slow.a->duplex();
    CHECK(lanes.lanes(side::a) + lanes.lanes(side::b) + lanes.reversing(side::a) + lanes.reversing(side::b) == 16);
}

statistics_snapshot numbers_of(const interconnect& net) {
    statistics_snapshot s;
    for (const auto& [k, v] : snapshot_statistics(std::string(net.name()) + "."))
        if (k.find(".load.") == std::string::npos && k.find("utilisation") == std::string::npos &&
            k.find("lanes") == std::string::npos)
            s[k] = v;
    return s;
}

}  // namespace

TEST_CASE("reversed lanes carry what stitched writes need") {
    auto& m = machines::get();
    const auto fixed = write_rate(m.fixed);
    // Acknowledgements ride with each other, so fewer lanes than without stitching do for them; 15 : 1 is the bound.
    const auto milic2017 = write_rate(m.milic2017) / fixed, predictive = write_rate(m.predictive) / fixed;
    CHECK(milic2017 > 1.4);
    CHECK(milic2017 < 1.875);
    CHECK(predictive > 1.4);
    CHECK(predictive < 1.875);
    CHECK(stat("milic2017.lanes_cluster0_cluster1.reversals") > 4);
    CHECK(stat("milic2017.cluster1.to_cluster0_egress.stitched") > 0);
    CHECK(stat("fixed.cluster0.to_cluster1.sent.wire.flits") ==
          stat("predictive.cluster0.to_cluster1.sent.wire.flits"));
}

TEST_CASE("a lane that reverses changes the rate of the packets that follow") {
    auto& f = machines::get().milic2017;
    f.reset();
    auto& slow = f.net.links().back();
    auto& lanes = slow.a->duplex();
    const auto arrives = [&] {
        f.probes[2]->clear();
        const auto begin = calendar::current().now();
        f.probes[0]->at.send(f.probes[0]->make(2, access_kind::write));
        run_all();
        return f.probes[2]->requests.at(0).when - begin;
    };
    const auto eight = arrives();
    REQUIRE(lanes.reverse(side::a, 4) == 4);
    run_all();
    CHECK(eight - arrives() == Approx(80 * (1e12 / 16e9 - 1e12 / 24e9)).margin(50));
    f.net.terminals[0]->kernel_launched();
    run_all();
    CHECK(arrives() == eight);
}

TEST_CASE(
    "stress traffic passes with all parts and lanes that reverse all the time, with the smallest buffers and bit "
    "errors; and "
    "twice "
    "the same way") {
    auto& m = machines::get();
    for (auto& net : m.stressed) net->reset();
    run_all();
    restart_statistics();
    for (auto& net : m.stressed) net->reset();
    run_all();
    std::vector<statistics_snapshot> first;
    for (const auto& net : m.stressed) {
        check_whole(*net);
        first.push_back(numbers_of(*net));
    }
    CHECK(stat("storm_tiny.cluster0.blocked") > 0);
    CHECK(stat("storm_noisy.cluster0.to_cluster1.transmitter.replays") > 0);
    restart_statistics();
    for (auto& net : m.stressed) net->reset();
    run_all();
    for (std::size_t i = 0; i < m.stressed.size(); ++i) {
        const auto second = numbers_of(*m.stressed[i]);
        for (const auto& [k, v] : first[i]) {
            INFO(k);
            CHECK(second.at(k) == v);
        }
    }
}
