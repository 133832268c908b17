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

/// GPUs without a name are called gpu0, gpu1, …; the tree learns where they are plugged in.
node_params complete(node_params p) {
    for (std::size_t i = 0; i < p.gpus.size(); ++i) {
        if (p.gpus[i].name.empty()) p.gpus[i].name = fmt::format("gpu{}", i);
        p.pcie.slots.push_back({p.gpus[i].name, p.gpus[i].below});
        p.fabric.devices.push_back(p.gpus[i].name);
    }
    return p;
}

}  // namespace

node::node(const sc_core::sc_module_name& name, const node_params& p, const simulation_params& simulation)
    : model(name), params(complete(p)), host("host", with_simulation(p.host, simulation)) {
    if (!params.pcie.empty()) plug_in();
    if (!params.fabric.empty()) link_up();
}

void node::plug_in() {
    pcie = std::make_unique<pcie::tree>("pcie", params.pcie);
    host.attach(pcie->root);
    for (std::size_t i = 0; i < params.gpus.size(); ++i) {
        gpus.push_back(std::make_unique<gpu::gpu_device>(params.gpus[i].name.c_str(), params.gpus[i], static_cast<unsigned>(i)));
        pcie::connect(pcie->slot(i), gpus.back()->link);
    }
}

void node::link_up() {
    fabric = std::make_unique<fabric::interconnect>("fabric", params.fabric);
    for (std::size_t i = 0; i < gpus.size(); ++i)
        if (auto& terminal = *fabric->terminals[i]; terminal.link) gpus[i]->core.fabric.attach(terminal);
    fabric->start();
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
