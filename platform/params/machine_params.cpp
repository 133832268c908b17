// SPDX-License-Identifier: Apache-2.0
#include "platform/params/machine_params.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/described_blocks.h"

namespace fabricvp {
std::optional<std::size_t> node_index(const std::string& name) {
    if (name.size() < 5 || name.size() > 12 || name.compare(0, 4, "node") != 0) return std::nullopt;
    if (name[4] == '0' && name.size() > 5) return std::nullopt;
    std::size_t index = 0;
    for (const char c : name.substr(4)) {
        if (c < '0' || c > '9') return std::nullopt;
        index = 10 * index + static_cast<std::size_t>(c - '0');
    }
    return index;
}

void simulation_params::describe(parameter_visitor& v) {
    v.field("quantum", quantum, between{1e3, 1e9},
            "longest time a hart runs ahead of the others; shorter is more exact and slower");
    v.field("watchdog", watchdog, between{0, 1e15},
            "simulated time after which an unanswered bus access ends the run; 0 ps: never");
    v.field("skip_polls", skip_polls,
            "harts sleep over rounds of loops that wait; results are the same, all but sim.*; false: all is executed");
    v.field("translate_after", translate_after, between{0, 1'000'000'000},
            "entries of a block of a hart's code after which it becomes code of the host (x86-64); results are the "
            "same; 0: all is interpreted");
    v.field("seed", seed,
            "seed of everything random in the machine: errors of links, choices of generators, the device tree's "
            "rng-seed; each block has a stream of its own");
    v.choice("log", log, "least severe messages of the models that are printed");
    v.field("until", until,
            "whose end ends the run: all (nodes that run software have powered off or failed), any (one of them has) "
            "or the name of a node, such as node0");
}

void image_params::describe(parameter_visitor& v) {
    where.note(v, {"firmware", "kernel", "initrd"});
    v.field("firmware", firmware, "ELF or raw binary that the harts start with, at the start of the memory");
    v.field("kernel", kernel,
            "ELF at its own addresses, or raw image where the firmware jumps to (2 MiB into the memory)");
    v.field("initrd", initrd, "initial RAM disk, placed high in the memory and named in the device tree");
    v.field("append", append, "kernel command line (bootargs in the device tree)");
    v.field("tohost", tohost, "watch the program's `tohost` word (riscv-tests): 1 passes, other values fail");
}

void fault_params::describe(parameter_visitor& v) {
    v.field("at", at, between{0, 1e18}, "simulated time at which it happens");
    v.field("when", when,
            "label of a mark of the firmware of the target's node, or of node0 if the target is in none; `at` then "
            "counts from the first such mark");
    v.field("target", target, "hierarchical name of the block that it happens to; below a node, relative to the node");
    v.field("kind", kind, "kind of fault; `fabricvp describe CONFIG --faults` lists what each block offers");
    if (const auto where = v.origin_of(""); !where.empty()) {
        origin = where;
        target_origin = v.origin_of("target");
        kind_origin = v.origin_of("kind");
    }
    v.rest(arguments, "arguments of the kind");
}

void node_params::describe(parameter_visitor& v) {
    v.group("images", images, "software that the node starts with; paths are relative to this file");
    v.group("host", host, "the host complex: harts, memory, devices");
    v.group("pcie", pcie, "the PCI Express tree");
    v.group("fabric", fabric, "switches and links between GPUs; without links there is none");
    v.group("energy", energy, "what activity costs; the statistics under `energy` follow from it");
    devices.describe(v);
    v.list("faults", faults, "faults that happen to this node");
}

void machine_params::describe_head(parameter_visitor& v) {
    register_device_kinds();
    v.group("simulation", simulation, "how the machine is simulated");
    v.list("faults", faults, "faults that happen during the run");
    v.group("network", network, "the InfiniBand network between nodes; without switches and links there is none");
    v.group("ethernet", ethernet, "the Ethernet between nodes; without links there is none");
}

void machine_params::describe(parameter_visitor& v) {
    describe_head(v);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < nodes.size(); ++i) names.push_back(fmt::format("node{}", i));
    v.expect_blocks("node", names);
    v.list("nodes", nodes, "the nodes (computers), numbered in this order");
}

/// Where no links are said, two adapters are joined by a cable, and to a single switch all are.
static void plug_in_adapters(machine_params& p) {
    std::vector<std::string> all;
    for (std::size_t node = 0; node < p.nodes.size(); ++node)
        for (const auto& end : p.nodes[node].devices.network_ends())
            all.push_back(fmt::format("node{}.{}", node, end.name));
    if (p.network.empty() && all.size() == 2) {
        p.network.links.emplace_back();
        p.network.links.back().from = all[0];
        p.network.links.back().to = all[1];
    }
    if (p.network.links.empty() && p.network.generators.empty() && p.network.switches.size() == 1)
        for (const auto& name : all) {
            p.network.links.emplace_back();
            p.network.links.back().from = name;
            p.network.links.back().to = p.network.switches[0].name;
        }
    for (std::size_t node = 0; node < p.nodes.size(); ++node)
        for (const auto& end : p.nodes[node].devices.network_ends()) {
            const auto name = fmt::format("node{}.{}", node, end.name);
            p.nodes[node].devices.set_plugged(
                end.name, std::any_of(p.network.links.begin(), p.network.links.end(),
                                      [&](const auto& l) { return l.from == name || l.to == name; }));
        }
}

/// The same for network adapters.
static void join_network_adapters(machine_params& p) {
    std::vector<std::string> all;
    for (std::size_t node = 0; node < p.nodes.size(); ++node)
        for (const auto& e : p.nodes[node].pcie.endpoints)
            if (pcie::capabilities_of(e.device.kind()).ethernet_port)
                all.push_back(fmt::format("node{}.pcie.{}", node, e.name));
    if (!p.ethernet.empty() || all.size() != 2) return;
    p.ethernet.links.emplace_back();
    p.ethernet.links.back().from = all[0];
    p.ethernet.links.back().to = all[1];
}

machine_params completed(machine_params p) {
    for (std::size_t node = 0; node < p.nodes.size(); ++node) {
        auto& n = p.nodes[node];
        if (p.nodes.size() > 1 && n.host.marker.scope.empty()) n.host.marker.scope = fmt::format("node{}", node);
        n.host.quantum = p.simulation.quantum;
        n.host.device_memory = 0;
        for (const auto& e : n.pcie.endpoints) n.host.device_memory += e.device.settings().memory_bar();
        n.host.device_memory += n.devices.memory_windows();
        n.devices.complete();
        n.pcie.slots = n.devices.slots();
        n.fabric.devices = n.devices.fabric_ports();
    }
    plug_in_adapters(p);
    join_network_adapters(p);
    return p;
}

}  // namespace fabricvp
