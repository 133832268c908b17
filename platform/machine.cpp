// SPDX-License-Identifier: Apache-2.0
#include "platform/machine.h"

#include <algorithm>

#include <fmt/format.h>

#include "abi/memory_map.h"
#include "base/clock_domain.h"
#include "base/random_streams.h"
#include "base/rejection.h"
#include "pcie/virtio_net.h"

namespace fabricvp {
namespace {

constexpr unsigned max_apus = (VIRT_PLIC_BASE - VIRT_APU_BASE) / VIRT_APU_STRIDE < VIRT_PLIC_SOURCES + 1 - VIRT_APU_IRQ
                                  ? (VIRT_PLIC_BASE - VIRT_APU_BASE) / VIRT_APU_STRIDE
                                  : VIRT_PLIC_SOURCES + 1 - VIRT_APU_IRQ;

/// A packet that waits longer than the timeout of the watchdog would end the run.
void check_windows(const fabric::interconnect_params& f, duration watchdog_timeout) {
    for (const auto& s : f.switches) {
        if (!watchdog_timeout || s.netcrafter.pooling == fabric::netcrafter::pooling_mode::none) continue;
        if (clock_domain(s.clock).span(s.netcrafter.window) >= watchdog_timeout)
            reject_at(s.where.of("netcrafter"),
                      fmt::format("fabric: {}.netcrafter.window of {} cycles is not shorter than simulation.watchdog",
                                  s.name, s.netcrafter.window.count));
    }
}

}  // namespace

node::node(const sc_core::sc_module_name& name, const node_params& p) : model(name), params(p), host("host", p.host) {
    if (!params.replay) {
        if (!params.pcie.empty()) {
            pcie = std::make_unique<pcie::tree>("pcie", params.pcie);
            host.attach(pcie->root);
        }
        add_gpus();
        plug_in_adapters();
    }
    if (!params.fabric.empty()) link_up();
    energy = std::make_unique<energy_meter>("energy", params.energy, *this);
}

void node::add_gpus() {
    std::size_t slot = 0;
    for (std::size_t i = 0; i < params.gpus.size(); ++i) {
        const auto& p = params.gpus[i];
        const auto number = static_cast<unsigned>(i);
        if (p.is_apu()) {
            gpus.push_back(make_apu(p, number));
            continue;
        }
        auto device = std::make_unique<gpu::gpu_device>(p.name.c_str(), p, number);
        pcie::connect(pcie->slot(slot++), device->link);
        gpus.push_back(std::move(device));
    }
}

/// Its registers lie where they have a place each; its memory above all else, one after the other.
std::unique_ptr<gpu::apu> node::make_apu(const gpu_node_params& p, unsigned number) {
    const auto size = p.memory_bar();
    const auto registers = VIRT_APU_BASE + number * VIRT_APU_STRIDE, doorbells = registers + VIRT_APU_DOORBELLS;
    const auto memory =
        (std::max(m_apu_memory, host.pcie_mmio64_base() + host.pcie_mmio64_size()) + size - 1) & ~(size - 1);
    const auto line = VIRT_APU_IRQ + number;
    m_apu_memory = memory + size;
    if (number >= max_apus)
        reject_at(p.where.own(),
                  fmt::format("{}: an APU must be one of the first {} GPUs of its node", p.name, max_apus));
    auto apu =
        std::make_unique<gpu::apu>(p.name.c_str(), p.apu, p.core, p.host_interface, number, host.coherent_port());
    host.bus.map(p.name + ".registers", registers, GPU_REGISTERS_SIZE, apu->register_window.bus);
    host.bus.map(p.name + ".doorbells", doorbells, GPU_DOORBELLS_SIZE, apu->doorbell_window.bus);
    host.bus.map(p.name + ".memory", memory, size, apu->memory_window.bus);
    apu->devices.bus.bind(host.bus.from_devices);
    apu->interrupt.connect([this, line](bool level) { host.set_interrupt_source(line, level); });
    host.add_device_tree_node({{"gpu", {"fabricvp,apu"}, {}},
                               registers,
                               GPU_REGISTERS_SIZE,
                               line,
                               {{doorbells, GPU_DOORBELLS_SIZE}, {memory, p.core.memory.capacity}}});
    return apu;
}

void node::plug_in_adapters() {
    const auto first = static_cast<std::size_t>(
        std::count_if(params.gpus.begin(), params.gpus.end(), [](const auto& g) { return !g.is_apu(); }));
    for (const auto& p : params.hcas) {
        hcas.push_back(std::make_unique<hca::hca_device>(p.name.c_str(), p));
        pcie::connect(pcie->slot(first + hcas.size() - 1), hcas.back()->link);
    }
}

void node::link_up() {
    if (!params.replay && params.gpus.size() > fabric::max_devices)
        reject_at(params.gpus[fabric::max_devices].where.own(),
                  fmt::format("fabric: {} GPUs: at most {} of a node", params.gpus.size(), fabric::max_devices));
    fabric = std::make_unique<fabric::interconnect>("fabric", params.fabric);
    for (std::size_t i = 0; i < gpus.size(); ++i)
        if (auto& terminal = *fabric->terminals[i]; terminal.link) gpus[i]->core.fabric.attach(terminal);
    if (params.replay) {
        std::vector<gpu::gpu_core_params> cores;
        for (const auto& g : params.gpus) cores.push_back(g.core);
        replay = std::make_unique<gpu::replay::player>("replay", params.replay, params.fabric.devices, cores, *fabric);
    }
    fabric->start();
}

void node::power_down() {
    for (auto& hart : host.harts) hart->halt();
    for (auto& g : gpus)
        for (auto& hart : g->core.processor.harts) hart->halt();
}

void node::power_up() {
    reset();
    for (auto& hart : host.harts) hart->resume();
    for (auto& g : gpus)
        for (auto& hart : g->core.processor.harts) hart->resume();
}

machine::machine(const machine_params& p, const machine_partition& partition)
    : params(completed(p)), timeline("calendar") {
    set_simulation_seed(params.simulation.seed);
    for (const auto& n : params.nodes) check_windows(n.fabric, params.simulation.watchdog);
    for (std::size_t i = 0; i < params.nodes.size(); ++i)
        nodes.push_back(!partition.has || partition.has(i)
                            ? std::make_unique<node>(fmt::format("node{}", i).c_str(), params.nodes[i])
                            : nullptr);
    if (!params.network.empty()) lay_network(partition.network);
    if (!params.ethernet.empty()) lay_ethernet();
}

void machine::lay_network(const network::subnet_cut& cut) {
    std::vector<network::subnet::adapter> adapters;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        for (std::size_t h = 0; h < params.nodes[i].hcas.size(); ++h)
            if (const auto& hca = params.nodes[i].hcas[h]; hca.network.plugged)
                adapters.emplace_back(fmt::format("node{}.{}", i, hca.name),
                                      nodes[i] ? &nodes[i]->hcas[h]->network.link : nullptr);
    network = std::make_unique<network::subnet>("network", params.network, adapters, cut);
    network->start();
}

void machine::lay_ethernet() {
    std::vector<ethernet::segment::adapter> adapters;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!nodes[i] || !nodes[i]->pcie) continue;
        for (const auto& e : nodes[i]->pcie->endpoints)
            if (auto* adapter = dynamic_cast<pcie::virtio_net*>(e.get()))
                adapters.push_back({e->name(), adapter->station(), &adapter->port});
    }
    ethernet = std::make_unique<ethernet::segment>("ethernet", params.ethernet, adapters);
}

void machine::reset() {
    for (auto& n : nodes)
        if (n) n->reset();
    if (network) network->reset();
    if (ethernet) ethernet->reset();
}

std::uint64_t machine::instructions() const {
    std::uint64_t sum = 0;
    for (const auto& n : nodes)
        if (n)
            for (const auto& hart : n->host.harts) sum += hart->instructions.total();
    return sum;
}

}  // namespace fabricvp
