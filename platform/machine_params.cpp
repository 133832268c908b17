// SPDX-License-Identifier: Apache-2.0
#include "platform/machine_params.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "base/described_blocks.h"
#include "platform/config/config_reader.h"
#include "platform/config/config_tree.h"
#include "platform/loader/image_paths.h"
#include "platform/platform.h"

namespace fabricvp {
namespace {

/// Index of a key such as node12; none for other words.
std::optional<std::uint64_t> node_index(const std::string& key) {
    if (key.size() < 5 || key.size() > 12 || key.compare(0, 4, "node") != 0) return std::nullopt;
    if (key[4] == '0' && key.size() > 5) return std::nullopt;
    std::uint64_t index = 0;
    for (const char c : key.substr(4)) {
        if (c < '0' || c > '9') return std::nullopt;
        index = 10 * index + static_cast<std::uint64_t>(c - '0');
    }
    return index;
}

/// Paths of files start from the folder of the configuration; `firmware:NAME` is one of the project's own.
std::string located(const std::string& path, const std::string& configuration) {
    if (path.empty()) return path;
    if (path.compare(0, 9, "firmware:") == 0) return find_image(path, {});
    return std::filesystem::absolute(std::filesystem::path(configuration).parent_path() / path).lexically_normal().string();
}

/// In the fabric, GPUs stand beside switches and generators by their names.
void check_fabric_names(const node_params& n) {
    std::set<std::string> gpus;
    for (const auto& g : n.gpus) gpus.insert(g.name);
    const auto check = [&](const auto& item) {
        if (gpus.count(item.name))
            throw input_error(fmt::format("{}: the name {} is taken: a GPU has it, which stands there in the fabric", item.origin, quoted(item.name)));
    };
    for (const auto& s : n.fabric.switches) check(s);
    for (const auto& g : n.fabric.generators) check(g);
}

void check_top_level(const config_tree& tree, std::uint64_t nodes) {
    std::vector<std::string> known = {"simulation", "nodes", "faults", "node", "node0"};
    for (const auto& e : tree.entries) {
        const auto index = node_index(e.key);
        if (!index) continue;
        if (*index >= nodes)
            throw input_error(fmt::format("{}: there is no {}: this machine has {} node{} ('nodes: {}')", e.origin, e.key,
                                          nodes, nodes == 1 ? "" : "s", nodes));
        known.push_back(e.key);
    }
    refuse_unknown_keys(tree, "", known);
}

}  // namespace

void simulation_params::describe(parameter_visitor& v) {
    v.field("quantum", quantum, between{1e3, 1e9},
            "longest time a hart runs ahead of the others; shorter is more exact and slower");
    v.field("watchdog", watchdog, between{0, 1e15},
            "simulated time after which an unanswered bus access ends the run; 0 ps: never");
    v.field("seed", seed, "seed of everything random in the machine: errors of links, choices of generators, the device tree's rng-seed; each block has a stream of its own");
    v.choice("log", log, "least severe messages of the models that are printed");
}

void image_params::describe(parameter_visitor& v) {
    v.field("firmware", firmware, "ELF or raw binary that the harts start with, at the start of the memory");
    v.field("kernel", kernel, "ELF at its own addresses, or raw image where the firmware jumps to (2 MiB into the memory)");
    v.field("initrd", initrd, "initial RAM disk, placed high in the memory and named in the device tree");
    v.field("append", append, "kernel command line (bootargs in the device tree)");
    v.field("tohost", tohost, "watch the program's `tohost` word (riscv-tests): 1 passes, other values fail");
}

void fault_params::describe(parameter_visitor& v) {
    v.field("at", at, between{0, 1e18}, "simulated time at which it happens");
    v.field("when", when, "label of a mark of the node's firmware; `at` then counts from the first such mark");
    v.field("target", target, "hierarchical name of the block that it happens to; below a node, relative to the node");
    v.field("kind", kind, "kind of fault; `fabricvp describe CONFIG --faults` lists what each block offers");
    if (const auto where = v.origin_of(""); !where.empty()) {
        origin = where;
        target_origin = v.origin_of("target");
        kind_origin = v.origin_of("kind");
    }
    v.rest(arguments, "arguments of the kind");
}

void gpu_node_params::describe(parameter_visitor& v) {
    v.field("name", name, "name of the GPU: its path in statistics; gpu0, gpu1, … unless given");
    v.field("below", below, "where it is plugged in: root, or a switch of the PCIe tree");
    gpu::gpu_device_params::describe(v);
}

void node_params::describe(parameter_visitor& v) {
    v.group("images", images, "software that the node starts with; paths are relative to this file");
    v.group("host", host, "the host complex: harts, memory, devices");
    v.group("pcie", pcie, "the PCI Express tree");
    v.group("fabric", fabric, "switches and links between GPUs; without links there is none");
    describe_blocks(v, "gpus", gpus, "gpu", "GPUs, numbered in this order");
    v.list("faults", faults, "faults that happen to this node");
}

void machine_params::describe_head(parameter_visitor& v) {
    v.group("simulation", simulation, "how the machine is simulated");
    v.field("nodes", nodes, between{1, static_cast<double>(most_nodes)}, "number of nodes in the machine");
    v.list("faults", faults, "faults that happen during the run");
}

void machine_params::describe(parameter_visitor& v) {
    describe_head(v);
    node.resize(nodes);
    for (std::size_t i = 0; i < node.size(); ++i) v.group(fmt::format("node{}", i).c_str(), node[i], "one node");
}

machine_params completed(machine_params p) {
    for (auto& n : p.node) {
        n.host.quantum = p.simulation.quantum;
        n.host.device_memory = 0;
        for (const auto& e : n.pcie.endpoints) n.host.device_memory += e.device.settings().memory_bar();
        for (const auto& g : n.gpus) n.host.device_memory += g.memory_bar();
        n.pcie.slots.clear();
        n.fabric.devices.clear();
        for (std::size_t i = 0; i < n.gpus.size(); ++i) {
            auto& gpu = n.gpus[i];
            if (gpu.name.empty()) gpu.name = fmt::format("gpu{}", i);
            n.pcie.slots.push_back({gpu.name, gpu.below});
            n.fabric.devices.push_back(gpu.name);
        }
    }
    return p;
}

machine_params read_machine_params(const std::string& yaml, const std::string& name,
                                   const std::vector<std::pair<std::string, std::string>>& overrides) {
    std::vector<config_tree> roots = {parse_config(yaml, name)};
    for (const auto& [key, value] : overrides) roots.push_back(make_override(key, value));

    machine_params params;
    std::vector<config_reader::layer> top;
    for (const auto& root : roots) top.push_back({&root, ""});
    config_reader head(top);
    params.describe_head(head);  // node keys can be judged once the number of nodes is known
    for (const auto& root : roots) check_top_level(root, params.nodes);

    params.node.resize(params.nodes);
    for (std::size_t i = 0; i < params.node.size(); ++i) {
        const auto own = fmt::format("node{}", i);
        std::vector<config_reader::layer> layers;
        for (const auto& root : roots)
            for (const auto& key : {std::string("node"), own})
                if (const auto* tree = root.find(key)) layers.push_back({tree, key});
        config_reader reader(std::move(layers));
        try {
            params.node[i].describe(reader);
        } catch (const std::invalid_argument& e) {  // what only a model can judge; it names the place
            throw input_error(e.what());
        }
        reader.finish();
        check_fabric_names(params.node[i]);
        for (auto& e : params.node[i].pcie.endpoints)
            for (auto* path : e.device.settings().files()) *path = located(*path, name);
    }
    return completed(std::move(params));
}

}  // namespace fabricvp
