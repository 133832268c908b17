// SPDX-License-Identifier: Apache-2.0
#include "platform/machine.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/random_streams.h"
#include "base/rejection.h"
#include "fabric/stage_plan.h"
#include "platform/loader/made_images.h"

namespace fabricvp {
namespace {

/// A packet that waits longer than the timeout of the watchdog would end the run.
void check_windows(const fabric::interconnect_params& f, duration watchdog_timeout) {
    if (!watchdog_timeout) return;
    const fabric::stage_plan plan(f);
    for (const auto& u : plan.uses()) {
        const auto hold = u.settings().longest_hold(u.cycle);
        if (hold.time >= watchdog_timeout)
            reject_at(u.origin,
                      fmt::format("fabric: {}.{} is not shorter than simulation.watchdog", u.path, hold.reason));
    }
}

/// Disks whose images `make linux` has not made are blank. Nothing runs with them (require_disk_images()).
pcie::tree_params with_made_images(pcie::tree_params p) {
    for (auto& e : p.endpoints)
        for (auto* path : e.device.settings().files()) *path = made_image(*path);
    return p;
}

}  // namespace

node::node(const sc_core::sc_module_name& name, const node_params& p) : model(name), params(p), host("host", p.host) {
    if (!params.replay) {
        if (!params.pcie.empty()) {
            pcie = std::make_unique<pcie::tree>("pcie", with_made_images(params.pcie));
            host.attach(pcie->root);
        }
        devices.build(params.devices, host, pcie.get());
        if (!devices.gpus.empty()) kernels = std::make_unique<gpu::kernel_activity>("kernels");
        for (auto& g : devices.gpus) g->core.dispatcher.report_to(*kernels);
    }
    if (!params.fabric.empty()) link_up();
    energy = std::make_unique<energy_meter>("energy", params.energy, *this);
}

void node::link_up() {
    if (const auto linked = params.fabric.devices.size(); !params.replay && linked > fabric::max_devices)
        reject_at(params.devices.origin_of_fabric_port(fabric::max_devices).own(),
                  fmt::format("fabric: {} GPUs: at most {} of a node", linked, fabric::max_devices));
    fabric = std::make_unique<fabric::interconnect>("fabric", params.fabric);
    devices.attach(*fabric);
    if (params.replay)
        replay = std::make_unique<gpu::replay::player>("replay", params.replay, params.fabric.devices,
                                                       params.devices.gpu_cores(), *fabric);
    fabric->start();
}

void node::power_down() {
    for (auto& hart : host.harts) hart->halt();
    for (auto* hart : devices.harts()) hart->halt();
}

/// What depends on its power goes as if it were pulled out, and its cables carry nothing any more.
void node::cut_power() {
    const auto inside = std::string(name()) + ".";
    constexpr std::string_view cable = ".network.link";
    for (auto* f : all_faults()) {
        const auto& target = f->target();
        if (target.compare(0, inside.size(), inside) != 0) continue;
        const bool is_cable =
            target.size() > cable.size() && target.compare(target.size() - cable.size(), cable.size(), cable) == 0;
        if (f->kind() == "surprise_removal" || (is_cable && f->kind() == "down")) f->order()->apply();
    }
    power_down();
    if (on_power_lost) on_power_lost();
}

void node::power_up() {
    reset();
    for (auto& hart : host.harts) hart->resume();
    for (auto* hart : devices.harts()) hart->resume();
}

machine::machine(const machine_params& p, const machine_partition& partition)
    : params(completed(p)), timeline("calendar") {
    set_simulation_seed(params.simulation.seed);
    for (const auto& n : params.nodes) check_windows(n.fabric, params.simulation.watchdog);
    for (std::size_t i = 0; i < params.nodes.size(); ++i)
        nodes.push_back(!partition.has || partition.has(i)
                            ? std::make_unique<node>(fmt::format("node{}", i).c_str(), params.nodes[i])
                            : nullptr);
    for (auto& n : nodes)
        if (n) n->host.set_node_count(nodes.size());
    if (!params.network.empty()) lay_network(partition.network);
    if (!params.ethernet.empty()) lay_ethernet();
}

void machine::lay_network(const network::subnet_cut& cut) {
    std::vector<network::subnet::adapter> adapters;
    std::vector<std::uint64_t> guids;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        for (const auto& end : params.nodes[i].devices.network_ends()) {
            if (!end.port->plugged) continue;
            adapters.emplace_back(fmt::format("node{}.{}", i, end.name),
                                  nodes[i] ? &nodes[i]->devices.network_port(end.name) : nullptr);
            guids.push_back(end.guid);
        }
    network = std::make_unique<network::subnet>("network", params.network, adapters, cut, guids);
    network->start();
}

void machine::lay_ethernet() {
    std::vector<ethernet::segment::adapter> adapters;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!nodes[i]) continue;
        for (auto& adapter : nodes[i]->devices.ethernet_adapters()) adapters.push_back(std::move(adapter));
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

riscv::hart::poll_counts machine::polls() const {
    riscv::hart::poll_counts sum;
    const auto add = [&](const riscv::hart& hart) {
        sum.skipped_slices += hart.polls.skipped_slices;
        sum.skipped_instructions += hart.polls.skipped_instructions;
        sum.first_rounds += hart.polls.first_rounds;
        for (std::size_t i = 0; i < sum.executed.size(); ++i) sum.executed[i] += hart.polls.executed[i];
    };
    for (const auto& n : nodes) {
        if (!n) continue;
        for (const auto& hart : n->host.harts) add(*hart);
        for (const auto* hart : n->devices.harts()) add(*hart);
    }
    return sum;
}

}  // namespace fabricvp
