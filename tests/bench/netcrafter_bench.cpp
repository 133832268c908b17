// SPDX-License-Identifier: Apache-2.0
// Speed of the fabric with NetCrafter: the saturated quad of fabric_bench with traffic generators, half of whose reads
// need one sector, without the controllers and with all their parts on. Prints one line of JSON: packet-hops (a packet
// on a link) a second of processor time, calendar events a packet-hop, and what the controllers did.
//
//     netcrafter_bench [REQUESTS_PER_GENERATOR [plain|on|both]]
#include <cstdlib>
#include <ctime>
#include <string>

#include <fmt/format.h>

#include "fabric/interconnect.h"
#include "fabric/netcrafter/controller.h"
#include "fabric/netcrafter/settings.h"

namespace {

using namespace fabricvp;

fabric::interconnect_params quad(std::uint64_t requests, bool on) {
    fabric::interconnect_params p;
    p.switches.resize(2);
    for (unsigned c = 0; c < 2; ++c) {
        p.switches[c].name = fmt::format("cluster{}", c);
        p.switches[c].cluster = c;
        auto& n = fabric::netcrafter::use(p.switches[c].stage);
        if (!on) continue;
        n.stitching = n.trimming = true;
        n.pooling = fabric::netcrafter::pooling_mode::selective;
        n.sequencing = fabric::netcrafter::sequencing_mode::page_tables;
        // The link is to be full; heads that wait for windows of their own leave it idle.
        n.window_from = fabric::netcrafter::window_start::arrival;
    }
    const auto link = [&](const std::string& from, const std::string& to) {
        p.links.emplace_back();
        p.links.back().from = from;
        p.links.back().to = to;
    };
    for (unsigned g = 0; g < 4; ++g) {
        p.generators.emplace_back();
        auto& made = p.generators.back();
        made.name = fmt::format("gpu{}", g);
        made.requests = requests;
        made.outstanding = 256;
        made.writes = 0.3;
        made.page_tables = 0.1;
        made.one_sector = 0.5;
        made.service = {100'000};
        link(made.name, fmt::format("cluster{}", g / 2));
    }
    link("cluster0", "cluster1");
    p.links.back().lane_rate = {2'000'000'000};
    return p;
}

struct figures {
    double hops_per_s = 0, events_per_hop = 0;
};

figures measure(fabric::interconnect& net) {
    auto& timeline = calendar::current();
    const auto hops = net.packet_hops(), events = timeline.executed();
    const std::clock_t start = std::clock();
    net.start();
    while (timeline.next_event_time() != never)
        timeline.run_until(timeline.next_event_time() + ticks_per_second / 1000);
    const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    for (const auto* g : net.generators)
        if (!g->finished() || g->corrupt.value()) throw std::runtime_error("a packet was lost or corrupted");
    const auto carried = static_cast<double>(net.packet_hops() - hops);
    return {carried / took, static_cast<double>(timeline.executed() - events) / carried};
}

int run(std::uint64_t requests, const std::string& which) {
    calendar timeline;
    fabric::interconnect plain("plain", quad(requests, false)), on("on", quad(requests, true));
    figures without, with;
    if (which != "on") without = measure(plain);
    if (which != "plain") with = measure(on);
    double left = 0, rode = 0, trimmed = 0, wire = 0, saved = 0;
    for (const auto& s : on.switches)
        for (unsigned i = 0; i < s->ports(); ++i)
            if (const auto* c = dynamic_cast<const fabric::netcrafter::controller*>(&s->egress_of(i))) {
                left += static_cast<double>(c->left.value());
                rode += static_cast<double>(c->stitched.value() + c->stitched_ends.value());
                trimmed += static_cast<double>(c->trimmed.value());
                wire += static_cast<double>(c->wire_flits.value());
                saved += static_cast<double>(c->saved_by_stitching.value() + c->saved_by_ends.value() +
                                             c->saved_by_trimming.value());
            }
    const auto share = [](double part, double whole) { return whole ? part / whole : 0; };
    fmt::print(
        "{{\"value\": {:.0f}, \"without\": {:.0f}, \"unit\": \"packet-hops/s\", \"events_per_hop\": {:.3f}, "
        "\"events_per_hop_without\": {:.3f}, \"stitched_share\": {:.3f}, \"trimmed_share\": {:.3f}, "
        "\"saved_flits_share\": {:.3f}}}\n",
        with.hops_per_s, without.hops_per_s, with.events_per_hop, without.events_per_hop, share(rode, left),
        share(trimmed, left), share(saved, wire + saved));
    return 0;
}

}  // namespace

int sc_main(int argc, char* argv[]) {
    try {
        return run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 150'000, argc > 2 ? argv[2] : "both");
    } catch (const std::exception& e) {
        fmt::print(stderr, "netcrafter_bench: {}\n", e.what());
        return 2;
    }
}
