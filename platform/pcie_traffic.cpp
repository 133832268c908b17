// SPDX-License-Identifier: Apache-2.0
#include "platform/pcie_traffic.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "platform/common/input_error.h"
#include "platform/pci_enumeration.h"

namespace fabricvp {
namespace {

std::uint64_t hops(pcie::tree& t) {
    std::uint64_t sum = 0;
    const auto add = [&](const pcie::port& p) { sum += p.tlps_sent.total(); };
    for (unsigned i = 0; i < t.root.ports(); ++i) add(t.root.at(i));
    for (auto& s : t.switches)
        for (unsigned i = 0; i < s->ports(); ++i) add(s->at(i));
    for (auto& e : t.endpoints) add(e->link);
    return sum;
}

}  // namespace

pcie_traffic run_pcie_traffic(node& n, const std::vector<pcie::message>& messages, ticks limit) {
    if (!n.pcie) throw input_error(std::string(n.name()) + " has no PCIe tree");
    auto& tree = *n.pcie;
    const auto enabled = [](const auto& e) { return e->config.memory_enabled() && e->config.bus_master(); };
    // The memory of what these engines stand for lies above 4 GiB.
    if (!std::all_of(tree.endpoints.begin(), tree.endpoints.end(), enabled)) enumerate_pci(n, pci_placement::above_4g);
    const auto engines = tree.copy_engines();
    auto& timeline = calendar::current();
    const auto hops_before = hops(tree), events_before = timeline.executed();
    pcie_traffic result;
    try {
        result.deliveries = run_traffic(engines, messages, limit);
    } catch (const std::invalid_argument& error) {
        throw input_error(std::string(n.name()) + ".pcie: " + error.what());
    }
    result.tlp_hops = hops(tree) - hops_before;
    result.events = timeline.executed() - events_before;
    return result;
}

}  // namespace fabricvp
