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

std::string counted(std::size_t nodes) {
    return fmt::format("this machine has {} node{}", nodes, nodes == 1 ? "" : "s");
}

/// Paths of files start from the folder of the configuration; `firmware:NAME` is one of the project's own.
std::string located(const std::string& path, const std::string& configuration) {
    if (path.empty()) return path;
    if (path.compare(0, 9, "firmware:") == 0) return find_image(path, {});
    return std::filesystem::absolute(std::filesystem::path(configuration).parent_path() / path)
        .lexically_normal()
        .string();
}

/// In the fabric, GPUs stand beside switches and generators by their names.
void check_fabric_names(const node_params& n) {
    std::set<std::string> gpus;
    for (const auto& g : n.gpus) gpus.insert(g.name);
    const auto check = [&](const auto& item) {
        if (gpus.count(item.name))
            throw input_error(fmt::format("{}: the name {} is taken: a GPU has it, which stands there in the fabric",
                                          item.where.of("name"), quoted(item.name)));
    };
    for (const auto& s : n.fabric.switches) check(s);
    for (const auto& g : n.fabric.generators) check(g);
}

/// `below: host` stands for no switch.
void check_attachments(const node_params& n) {
    for (const auto& s : n.pcie.switches)
        if (s.name == gpu_node_params::on_host)
            throw input_error(fmt::format("{}: the name {} is taken: what is below it is on the host's bus",
                                          s.where.of("name"), quoted(s.name)));
    const auto apu = std::find_if(n.gpus.begin(), n.gpus.end(), [](const auto& g) { return g.is_apu(); });
    if (apu != n.gpus.end() && n.host.memory_timing != host::memory_timing_kind::caches)
        throw input_error(fmt::format(
            "{}: {}: an APU (below: host) shares the caches of the host: allowed with host.memory_timing: caches alone",
            apu->where.of("below"), apu->name));
}

/// Takes `base` out of a configuration. \returns the file that it names, or nothing
std::string base_of(config_tree& tree, const std::string& file) {
    for (auto e = tree.entries.begin(); e != tree.entries.end(); ++e) {
        if (e->key != "base") continue;
        if (e->value.kind != config_tree::shape::scalar || e->value.text.empty())
            throw input_error(e->origin + ": base: must be the file of another configuration, or a stock one's name");
        const auto beside = std::filesystem::path(file).parent_path() / e->value.text;
        std::error_code ignored;
        try {
            const auto found =
                std::filesystem::is_regular_file(beside, ignored) ? beside.string() : find_config(e->value.text);
            tree.entries.erase(e);
            return found;
        } catch (const input_error& why) {
            throw input_error(fmt::format("{}: base: {}", e->origin, why.what()));
        }
    }
    return {};
}

/// A configuration and those it is based on, the lowest first.
std::vector<config_tree> with_bases(config_tree tree, std::string file) {
    constexpr std::size_t max = 8;
    std::vector<config_tree> trees;
    for (auto below = base_of(tree, file); !below.empty(); below = base_of(tree, file)) {
        if (trees.size() == max)
            throw input_error(fmt::format(
                "{}: base: more than {} configurations on each other, or one that is based on itself", file, max));
        trees.insert(trees.begin(), std::move(tree));
        file = below;
        tree = read_config_file(file);
    }
    trees.insert(trees.begin(), std::move(tree));
    return trees;
}

/// \param file a configuration, else an override, which names a node by its path
void check_top_level(const config_tree& tree, bool file, std::size_t nodes) {
    std::vector<std::string> known = {"simulation", "nodes", "faults", "network", "ethernet", "node"};
    for (const auto& e : tree.entries) {
        const auto index = node_index(e.key);
        if (!index) continue;
        if (file)
            throw input_error(
                fmt::format("{}: {} stands in a list: 'nodes:' with an item for each node, 'node:' for what all have",
                            e.origin, e.key));
        if (*index >= nodes) throw input_error(fmt::format("{}: there is no {}: {}", e.origin, e.key, counted(nodes)));
        known.push_back(e.key);
    }
    reject_unknown_keys(tree, "", known);
}

/// How many nodes `nodes:` asks for: one for each item of a list, or a number of them.
std::size_t count_of(const config_tree& nodes) {
    std::uint64_t count = nodes.items.size();
    parameter number("nodes", "", parameter_kind::integer, &count);
    number.minimum = 1;
    number.maximum = machine_params::max_nodes;
    try {
        if (nodes.kind == config_tree::shape::sequence)
            number.parse(std::to_string(count));
        else if (nodes.kind == config_tree::shape::scalar)
            number.parse(nodes.text);
        else
            throw std::invalid_argument(
                "must be a list of nodes, or their number (keys of one node start with node0, node1, …)");
    } catch (const std::invalid_argument& e) {
        throw input_error(fmt::format("{}: nodes: {}", nodes.origin, e.what()));
    }
    return count;
}

/// What lies over each other for one node: in each tree what all nodes have, then what this one has.
std::vector<config_reader::layer> layers_of(const std::vector<config_tree>& roots, std::size_t index) {
    const auto own = fmt::format("node{}", index);
    std::vector<config_reader::layer> layers;
    const config_tree* listed = nullptr;  // a whole list replaces those of lower trees
    for (const auto& root : roots)
        if (const auto* nodes = root.find("nodes"); nodes && nodes->kind == config_tree::shape::sequence)
            listed = nodes;
    for (const auto& root : roots) {
        if (const auto* all = root.find("node")) layers.push_back({all, "node"});
        if (const auto* nodes = root.find("nodes"); nodes && nodes == listed && index < nodes->items.size())
            layers.push_back({&nodes->items[index], own});
        if (const auto* one = root.find(own)) layers.push_back({one, own});
    }
    return layers;
}

/// Where a key of `simulation` was given last.
std::string origin_of_simulation(const std::vector<config_tree>& roots, const std::string& key) {
    std::string where;
    for (const auto& root : roots)
        if (const auto* group = root.find("simulation"))
            if (const auto* value = group->find(key)) where = value->origin;
    return where;
}

void check_until(const std::string& until, std::size_t nodes, const std::string& origin) {
    const auto index = node_index(until);
    if (until == "all" || until == "any" || (index && *index < nodes)) return;
    throw input_error(fmt::format("{}: simulation.until: {} is not one of all, any, node0{}", origin, quoted(until),
                                  nodes > 2    ? fmt::format(" … node{}", nodes - 1)
                                  : nodes == 2 ? ", node1"
                                               : ""));
}

}  // namespace

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
    v.field("seed", seed,
            "seed of everything random in the machine: errors of links, choices of generators, the device tree's "
            "rng-seed; each block has a stream of its own");
    v.choice("log", log, "least severe messages of the models that are printed");
    v.field("until", until,
            "whose end ends the run: all (nodes that run software have powered off or failed), any (one of them has) "
            "or the name of a node, such as node0");
}

void image_params::describe(parameter_visitor& v) {
    v.field("firmware", firmware, "ELF or raw binary that the harts start with, at the start of the memory");
    v.field("kernel", kernel,
            "ELF at its own addresses, or raw image where the firmware jumps to (2 MiB into the memory)");
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
    where.note(v, {"below"});
    v.field("name", name, "name of the GPU: its path in statistics; gpu0, gpu1, … unless given");
    v.field(
        "below", below,
        "where it is plugged in: root, or a switch of the PCIe tree; host: on the host's bus, which makes it an APU");
    if (!is_apu()) gpu::gpu_device_params::describe(v);
    if (!is_apu() && !v.wants_kinds()) return;
    if (is_apu()) {
        core.describe(v);
        v.group("host_interface", host_interface, "what the host sees of the GPU");
    }
    apu.describe(v);
}

void hca_node_params::describe(parameter_visitor& v) {
    where.note(v, {"below"});
    v.field("name", name, "name of the adapter: its path in statistics; hca0, hca1, … unless given");
    v.field("below", below, "where it is plugged in: root, or a switch of the PCIe tree");
    hca::hca_params::describe(v);
}

void node_params::describe(parameter_visitor& v) {
    v.group("images", images, "software that the node starts with; paths are relative to this file");
    v.group("host", host, "the host complex: harts, memory, devices");
    v.group("pcie", pcie, "the PCI Express tree");
    v.group("fabric", fabric, "switches and links between GPUs; without links there is none");
    v.group("energy", energy, "what activity costs; the statistics under `energy` follow from it");
    describe_blocks(v, "gpus", gpus, "gpu", "GPUs, numbered in this order");
    describe_blocks(v, "hcas", hcas, "hca", "RDMA adapters, numbered in this order");
    v.list("faults", faults, "faults that happen to this node");
}

void machine_params::describe_head(parameter_visitor& v) {
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
    std::vector<std::pair<std::string, hca_node_params*>> all;
    for (std::size_t node = 0; node < p.nodes.size(); ++node)
        for (auto& h : p.nodes[node].hcas) all.emplace_back(fmt::format("node{}.{}", node, h.name), &h);
    if (p.network.empty() && all.size() == 2) {
        p.network.links.emplace_back();
        p.network.links.back().from = all[0].first;
        p.network.links.back().to = all[1].first;
    }
    if (p.network.links.empty() && p.network.generators.empty() && p.network.switches.size() == 1)
        for (const auto& [name, adapter] : all) {
            p.network.links.emplace_back();
            p.network.links.back().from = name;
            p.network.links.back().to = p.network.switches[0].name;
        }
    for (auto& [name, adapter] : all)
        adapter->network.plugged =
            std::any_of(p.network.links.begin(), p.network.links.end(),
                        [&name = name](const auto& l) { return l.from == name || l.to == name; });
}

/// The same for network adapters.
static void join_network_adapters(machine_params& p) {
    std::vector<std::string> all;
    for (std::size_t node = 0; node < p.nodes.size(); ++node)
        for (const auto& e : p.nodes[node].pcie.endpoints)
            if (e.device.kind() == "virtio_net") all.push_back(fmt::format("node{}.pcie.{}", node, e.name));
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
        for (const auto& g : n.gpus)
            if (!g.is_apu()) n.host.device_memory += g.memory_bar();
        for (const auto& h : n.hcas) n.host.device_memory += h.memory_bar();
        n.pcie.slots.clear();
        n.fabric.devices.clear();
        for (std::size_t i = 0; i < n.gpus.size(); ++i) {
            auto& gpu = n.gpus[i];
            if (gpu.name.empty()) gpu.name = fmt::format("gpu{}", i);
            if (!gpu.is_apu()) n.pcie.slots.push_back({gpu.name, gpu.below, gpu.where});
            n.fabric.devices.push_back(gpu.name);
        }
        for (std::size_t i = 0; i < n.hcas.size(); ++i) {
            if (n.hcas[i].name.empty()) n.hcas[i].name = fmt::format("hca{}", i);
            n.pcie.slots.push_back({n.hcas[i].name, n.hcas[i].below, n.hcas[i].where});
        }
    }
    plug_in_adapters(p);
    join_network_adapters(p);
    return p;
}

machine_params read_machine_params(const std::string& yaml, const std::string& name,
                                   const std::vector<std::pair<std::string, std::string>>& overrides) {
    auto roots = with_bases(parse_config(yaml, name), name);
    const auto files = roots.size();
    for (const auto& [key, value] : overrides) roots.push_back(make_override(key, value));

    machine_params params;
    std::vector<config_reader::layer> top;
    for (const auto& root : roots) top.push_back({&root, ""});
    config_reader head(top);
    params.describe_head(head);
    for (const auto& root : roots)
        if (const auto* nodes = root.find("nodes")) params.nodes.resize(count_of(*nodes));
    for (std::size_t i = 0; i < roots.size(); ++i) check_top_level(roots[i], i < files, params.nodes.size());
    check_until(params.simulation.until, params.nodes.size(), origin_of_simulation(roots, "until"));

    for (std::size_t i = 0; i < params.nodes.size(); ++i) {
        config_reader reader(layers_of(roots, i));
        auto& node = params.nodes[i];
        try {
            node.describe(reader);
        } catch (const std::invalid_argument& e) {  // what only a model can judge; it names the place
            throw input_error(e.what());
        }
        reader.finish();
        check_fabric_names(node);
        check_attachments(node);
        for (auto& e : node.pcie.endpoints)
            for (auto* path : e.device.settings().files()) *path = located(*path, name);
    }
    return completed(std::move(params));
}

}  // namespace fabricvp
