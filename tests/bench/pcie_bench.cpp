// SPDX-License-Identifier: Apache-2.0
// Speed of the PCIe tree: eight copy engines on Gen3 x16 links, 256-byte payload, each sends to all others all
// the time. Prints one line of JSON: TLP-hops (a TLP on a link) a second of processor time, and calendar events a
// TLP-hop, saturated and idle (one TLP at a time on an otherwise silent tree).
//
//     pcie_bench [KIB_PER_MESSAGE]
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <fmt/format.h>

#include "base/statistics.h"
#include "pcie/traffic.h"
#include "unit/pcie/cs_storm_bench.h"

namespace {

using namespace fabricvp;
using namespace fabricvp::pcie;

std::uint64_t tlp_hops() {
    static const auto counters = [] {
        std::vector<const counter*> found;
        for (const auto* s : all_statistics())
            if (const auto* c = dynamic_cast<const counter*>(s); c && c->path().find(".tlps_sent") != std::string::npos)
                found.push_back(c);
        return found;
    }();
    std::uint64_t sum = 0;
    for (const auto* c : counters) sum += c->total();
    return sum;
}

struct figures {
    std::uint64_t hops;
    double seconds, events_per_hop, simulated;
};

figures measure(const std::vector<copy_engine*>& engines, const std::vector<message>& messages) {
    auto& timeline = calendar::current();
    const auto clock = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
    // The first round warms pools and memories up, and tells what filling the memories takes, which does not count.
    const auto fill_start = clock();
    run_traffic(engines, messages, 0);
    const double fill = clock() - fill_start;
    timeline.run_until(timeline.now() + ticks_per_second / 10);
    const auto hops_before = tlp_hops(), events_before = timeline.executed();
    const auto start = clock();
    const auto simulated = timeline.now();
    for (const auto& d : run_traffic(engines, messages))
        if (!d.intact) throw std::runtime_error("a message was lost");
    const double took = clock() - start;
    const auto carried = tlp_hops() - hops_before;
    return {carried, took - fill,
            static_cast<double>(timeline.executed() - events_before) / static_cast<double>(carried),
            static_cast<double>(timeline.now() - simulated) * 1e-12};
}

int run(std::uint64_t bytes) {
    calendar timeline;
    port_params port;  // Gen3 x16
    port.max_payload = 256;
    test::cs_storm_bench bench("bench", port, 256);
    std::vector<copy_engine*> engines;
    for (auto& e : bench.engines) engines.push_back(e.get());
    std::vector<message> all;
    for (unsigned s = 0; s < 8; ++s)
        for (unsigned d = 0; d < 8; ++d)
            if (s != d) all.push_back({s, d, bytes});
    const auto saturated = measure(engines, all);
    std::vector<message> single;
    for (unsigned i = 0; i < 1000; ++i) single.push_back({0, 5, 256, ticks{i} * 10'000'000});
    const auto idle = measure(engines, single);
    fmt::print(
        "{{\"value\": {:.0f}, \"unit\": \"TLP-hops/s\", \"hops\": {}, \"processor_s\": {:.4f}, \"simulated_s\": "
        "{:.6f}, "
        "\"events_per_hop_saturated\": {:.3f}, \"events_per_hop_idle\": {:.3f}}}\n",
        static_cast<double>(saturated.hops) / saturated.seconds, saturated.hops, saturated.seconds, saturated.simulated,
        saturated.events_per_hop, idle.events_per_hop);
    return 0;
}

}  // namespace

int sc_main(int argc, char* argv[]) {
    try {
        return run((argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 256) << 10);
    } catch (const std::exception& e) {
        fmt::print(stderr, "pcie_bench: {}\n", e.what());
        return 2;
    }
}
