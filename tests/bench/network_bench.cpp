// SPDX-License-Identifier: Apache-2.0
// Speed of the network between nodes: 16 traffic generators on four leaf switches below four spines, EDR links,
// each sends datagrams to all others all the time. Prints one line of JSON: packet-hops (a packet on a link) a
// second of processor time, and calendar events a packet-hop.
//
//     network_bench [PACKETS_PER_GENERATOR [PAYLOAD]]
#include <cstdlib>
#include <ctime>
#include <stdexcept>

#include <fmt/format.h>

#include "base/calendar.h"
#include "network/subnet.h"

namespace {

using namespace fabricvp;

network::subnet_params tree(std::uint64_t packets, std::uint64_t payload) {
    constexpr unsigned leaves = 4, spines = 4, below = 4;
    network::subnet_params p;
    const auto link = [&](const std::string& from, const std::string& to) {
        p.links.emplace_back();
        p.links.back().from = from;
        p.links.back().to = to;
    };
    const auto add_switch = [&](const std::string& name) {
        p.switches.emplace_back();
        p.switches.back().name = name;
    };
    for (unsigned s = 0; s < spines; ++s) add_switch(fmt::format("spine{}", s));
    for (unsigned l = 0; l < leaves; ++l) {
        add_switch(fmt::format("leaf{}", l));
        for (unsigned s = 0; s < spines; ++s) link(fmt::format("leaf{}", l), fmt::format("spine{}", s));
        for (unsigned g = 0; g < below; ++g) {
            p.generators.emplace_back();
            p.generators.back().name = fmt::format("generator{}", l * below + g);
            p.generators.back().packets = packets;
            p.generators.back().payload = {payload};
            link(p.generators.back().name, fmt::format("leaf{}", l));
        }
    }
    return p;
}

int run(std::uint64_t packets, std::uint64_t payload) {
    calendar timeline;
    network::subnet net("net", tree(packets, payload));
    net.start();
    const std::clock_t start = std::clock();
    while (timeline.next_event_time() != never)
        timeline.run_until(timeline.next_event_time() + ticks_per_second / 1000);
    const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    for (const auto& g : net.generators)
        if (!g->finished() || g->corrupt.value() || g->missed.value() || g->late.value())
            throw std::runtime_error("a packet was lost or corrupted");
    const auto hops = net.packet_hops();
    fmt::print("{{\"value\": {:.0f}, \"unit\": \"packet-hops/s\", \"hops\": {}, \"events_per_hop\": {:.3f}}}\n",
               static_cast<double>(hops) / took, hops,
               static_cast<double>(timeline.executed()) / static_cast<double>(hops));
    return 0;
}

}  // namespace

int sc_main(int argc, char* argv[]) {
    try {
        return run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 40'000,
                   argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 2048);
    } catch (const std::exception& e) {
        fmt::print(stderr, "network_bench: {}\n", e.what());
        return 2;
    }
}
