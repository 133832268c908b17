// SPDX-License-Identifier: Apache-2.0
#include "platform/machine.h"

#include <fmt/format.h>

namespace fabricvp {
namespace {

host::host_params with_simulation(host::host_params host, const simulation_params& simulation) {
    host.quantum = simulation.quantum;
    host.seed = simulation.seed;
    return host;
}

}  // namespace

node::node(const sc_core::sc_module_name& name, const node_params& p, const simulation_params& simulation)
    : model(name), params(p), host("host", with_simulation(p.host, simulation)) {
    if (params.pcie.empty()) return;
    pcie = std::make_unique<pcie::tree>("pcie", params.pcie);
    host.attach(pcie->root);
}

machine::machine(const machine_params& p) : params(p), timeline("calendar") {
    for (std::size_t i = 0; i < params.node.size(); ++i)
        nodes.push_back(std::make_unique<node>(fmt::format("node{}", i).c_str(), params.node[i], params.simulation));
}

void machine::reset() {
    for (auto& n : nodes) n->reset();
}

std::uint64_t machine::instructions() const {
    std::uint64_t sum = 0;
    for (const auto& n : nodes)
        for (const auto& hart : n->host.harts) sum += hart->instructions.total();
    return sum;
}

}  // namespace fabricvp
