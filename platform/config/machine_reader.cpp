// SPDX-License-Identifier: Apache-2.0
#include "platform/config/machine_reader.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "platform/common/input_error.h"
#include "platform/config/config_reader.h"
#include "platform/config/config_tree.h"
#include "platform/config/plugins.h"
#include "platform/loader/image_paths.h"
#include "platform/params/machine_params.h"

namespace fabricvp {
namespace {

std::string counted(std::size_t nodes) {
    return fmt::format("this machine has {} node{}", nodes, nodes == 1 ? "" : "s");
}

/// Paths of files start from the folder of the configuration; `firmware:NAME` is one of the project's own.
std::string located(const std::string& path, const std::string& configuration) {
    if (path.empty()) return path;
    if (path.compare(0, 9, "firmware:") == 0) return find_image(path, {});
    return resolved_path(std::filesystem::absolute(std::filesystem::path(configuration).parent_path() / path).string());
}

/// The tree's value at a key, where it has one.
config_tree* entry_of(config_tree& tree, const std::string& key) {
    for (auto& e : tree.entries)
        if (e.key == key) return &e.value;
    return nullptr;
}

/// Makes a path independent of the configuration above the one that names it.
void locate(config_tree* value, const std::string& file) {
    // `firmware:NAME` is the same from everywhere, and stays as it was written.
    if (value && value->kind == config_tree::shape::scalar && value->text.rfind("firmware:", 0) != 0)
        value->text = located(value->text, file);
}

/// What is named by path in a part of a tree, in blocks known by their names and in items of lists alike.
void locate_files(config_tree& part, const std::string& file) {
    for (auto& item : part.items) locate_files(item, file);
    for (auto& e : part.entries) {
        if (e.key == "images")
            for (const char* key : {"firmware", "kernel", "initrd"}) locate(entry_of(e.value, key), file);
        else if (e.key == "processor")
            locate(entry_of(e.value, "firmware"), file);
        else if (e.key == "image")  // of an endpoint
            locate(&e.value, file);
        else
            locate_files(e.value, file);
    }
}

/// In the fabric, GPUs stand beside switches and generators by their names.
void check_fabric_names(const node_params& n) {
    const auto names = n.devices.fabric_ports();
    const auto check = [&](const auto& item) {
        if (std::find(names.begin(), names.end(), item.name) != names.end())
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
    const auto* apu = n.devices.on_host_bus();
    if (apu && n.host.memory_timing != host::memory_timing_kind::caches)
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

/// A configuration and those it is based on, the lowest first. \param each called with a tree and its file, from the
/// configuration down
template <class Function>
std::vector<config_tree> with_bases(config_tree tree, std::string file, Function each) {
    constexpr std::size_t max = 8;
    std::vector<config_tree> trees;
    each(tree, file);
    for (auto below = base_of(tree, file); !below.empty(); below = base_of(tree, file)) {
        if (trees.size() == max)
            throw input_error(fmt::format(
                "{}: base: more than {} configurations on each other, or one that is based on itself", file, max));
        trees.insert(trees.begin(), std::move(tree));
        file = below;
        tree = read_config_file(file);
        each(tree, file);
        locate_files(tree, file);  // paths of a base do not follow the configuration that stands on it
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
    if (file) known.insert(known.end(), {"base", "plugins"});  // they have been taken out
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

std::vector<std::string> config_files(const std::string& path) {
    std::vector<std::string> files;
    with_bases(read_config_file(path), path, [&](const config_tree& tree, const std::string& file) {
        files.push_back(file);
        for (auto& plugin : plugins_of(tree, file)) files.push_back(std::move(plugin));
    });
    return files;
}

machine_params read_machine_params(const std::string& yaml, const std::string& name,
                                   const std::vector<std::pair<std::string, std::string>>& overrides) {
    auto roots = with_bases(parse_config(yaml, name), name, load_plugins_of);
    const auto files = roots.size();
    for (const auto& [key, value] : overrides) {
        roots.push_back(make_override(key, value));
        locate_files(roots.back(), {});  // paths start where the command runs
    }

    machine_params params;
    std::vector<config_reader::layer> top;
    for (const auto& root : roots) top.push_back({&root, ""});
    config_reader head(top);
    params.describe_head(head);
    for (const auto& root : roots)
        if (const auto* nodes = root.find("nodes")) params.nodes.resize(count_of(*nodes));
    for (std::size_t i = 0; i < roots.size(); ++i) check_top_level(roots[i], i < files, params.nodes.size());
    check_until(params.simulation.until, params.nodes.size(), origin_of_simulation(roots, "until"));

    auto without_effect = head.without_effect();  // by origin
    auto with_effect = head.with_effect();
    for (std::size_t i = 0; i < params.nodes.size(); ++i) {
        config_reader reader(layers_of(roots, i));
        auto& node = params.nodes[i];
        try {
            node.describe(reader);
        } catch (const std::invalid_argument& e) {  // what only a model can judge; it names the place
            throw input_error(e.what());
        }
        reader.finish();
        without_effect.insert(reader.without_effect().begin(), reader.without_effect().end());
        with_effect.insert(reader.with_effect().begin(), reader.with_effect().end());
        check_fabric_names(node);
        check_attachments(node);
        for (auto& e : node.pcie.endpoints)
            for (auto* path : e.device.settings().files()) *path = located(*path, name);
        for (auto& gpu : node.devices.gpus)
            if (auto& file = gpu.core.processor.firmware; file.rfind("firmware:", 0) != 0) file = located(file, name);
    }
    for (const auto& [origin, why] : without_effect)
        if (!with_effect.count(origin)) throw input_error(why);
    return completed(std::move(params));
}

}  // namespace fabricvp
