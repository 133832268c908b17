// SPDX-License-Identifier: Apache-2.0
#include "platform/pcie_traffic.h"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "gpu/gpu_traffic_end.h"
#include "platform/common/input_error.h"
#include "platform/pci_enumeration.h"

namespace fabricvp {
namespace {

std::uint64_t hops(const node& n) {
    auto& t = *n.pcie;
    std::uint64_t sum = 0;
    const auto add = [&](const pcie::port& p) { sum += p.tlps_sent.total(); };
    for (unsigned i = 0; i < t.root.ports(); ++i) add(t.root.at(i));
    for (auto& s : t.switches)
        for (unsigned i = 0; i < s->ports(); ++i) add(s->at(i));
    for (auto& e : t.endpoints) add(e->link);
    for (auto& g : n.devices.gpus)
        if (const auto* device = dynamic_cast<const gpu::gpu_device*>(g.get())) add(device->link);
    return sum;
}

}  // namespace

std::vector<std::pair<std::string, pcie::traffic_end*>> pcie_traffic_ends(node& n) {
    // They stay, since messages that a limit has cut short refer to them.
    static auto& known = *new std::map<const node*, std::vector<std::unique_ptr<pcie::traffic_end>>>;
    const auto [at, fresh] = known.try_emplace(&n);
    std::vector<std::string> names;
    if (n.pcie)
        for (auto* engine : n.pcie->copy_engines()) {
            names.emplace_back(engine->basename());
            if (fresh) at->second.push_back(std::make_unique<pcie::engine_end>(*engine));
        }
    for (auto& g : n.devices.gpus)
        if (auto* device = dynamic_cast<gpu::gpu_device*>(g.get())) {
            names.emplace_back(device->basename());
            if (fresh) at->second.push_back(std::make_unique<gpu::gpu_traffic_end>(*device));
        }
    std::vector<std::pair<std::string, pcie::traffic_end*>> ends;
    for (std::size_t i = 0; i < names.size(); ++i) ends.emplace_back(names[i], at->second[i].get());
    return ends;
}

pcie_traffic run_pcie_traffic(node& n, const std::vector<pcie::message>& messages, ticks limit) {
    if (!n.pcie) throw input_error(std::string(n.name()) + " has no PCIe tree");
    std::vector<pcie::traffic_end*> ends;
    for (const auto& [name, end] : pcie_traffic_ends(n)) ends.push_back(end);
    // The memory of what copy engines stand for lies above 4 GiB.
    if (std::any_of(ends.begin(), ends.end(), [](const auto* e) { return !e->bus_address(); }))
        enumerate_pci(n, pci_placement::above_4g);
    auto& timeline = calendar::current();
    const auto hops_before = hops(n), events_before = timeline.executed();
    pcie_traffic result;
    try {
        result.deliveries = run_traffic(ends, messages, limit);
    } catch (const std::invalid_argument& error) {
        throw input_error(std::string(n.name()) + ".pcie: " + error.what());
    }
    result.tlp_hops = hops(n) - hops_before;
    result.events = timeline.executed() - events_before;
    return result;
}

}  // namespace fabricvp
