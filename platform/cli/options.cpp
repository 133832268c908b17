// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "platform/apps.h"
#include "platform/cli/command.h"
#include "platform/common/input_error.h"
#include "platform/config/plugins.h"
#include "platform/machine.h"
#include "platform/params/machine_params.h"

namespace fabricvp::cli {
namespace {

constexpr const char* image_names[] = {"firmware", "kernel", "initrd", "append", "tohost"};
constexpr const char* app_names[] = {"size", "gpus", "placement", "dispatch", "option"};

auto repeatable(const char* value) { return options::value<arguments>()->value_name(value); }

std::uint64_t size_of(const std::string& text, const char* option, std::uint64_t max) {
    return text.empty() ? 0 : number_option(text, 1, max, std::string("--") + option);
}

/// What the options say about one node.
class node_options {
public:
    node_options(const options::variables_map& given, const platform& p) {
        for (const char* name : image_names) {
            m_values[name] = by_node(given, name, p);
            for (const auto& [node, value] : m_values[name])
                if (value.empty())
                    throw input_error(
                        fmt::format("--{}: the value for node{} is empty; to drop what the configuration "
                                    "has, give --set node{}.images.{}=",
                                    name, node, node, name));
        }
        for (const char* name : app_names) {
            m_values[name] = by_node(given, name, p);
            for (const auto& [node, value] : m_values[name])
                if (value.empty()) throw input_error(fmt::format("--{}: the value for node{} is empty", name, node));
        }
        m_values["app"] = by_node(given, "app", p);
    }

    /// How a kernel of the user's own spreads over the GPUs of node0.
    app_options spread() const {
        app_options o;
        o.gpus = size_of(of("gpus", 0), "gpus", max_app_gpus);
        o.placement = of("placement", 0);
        o.dispatch = of("dispatch", 0);
        return o;
    }

    void load(platform& p, std::size_t node) const {
        if (has("app", node)) return load_app(p, node);
        for (const char* name : app_names)
            if (has(name, node))
                throw input_error(
                    fmt::format("--{} needs --app{}", name, node ? fmt::format(" node{}=NAME", node) : ""));
        p.load_images(node, {of("firmware", node), of("kernel", node), of("initrd", node), of("append", node),
                             has("tohost", node)});
    }

    /// Whether an application runs on all nodes. \throws input_error if another node than the first one has images or
    /// options of its own
    bool distributed(const platform& p) const {
        if (!has("app", 0) || !is_distributed_app(of("app", 0))) return false;
        for (std::size_t node = 1; node < p.node_count(); ++node)
            for (const auto& [name, values] : m_values)
                if (values.count(node))
                    throw input_error(
                        fmt::format("--{} node{}=…: {} runs on all nodes alike", name, node, of("app", 0)));
        return true;
    }

private:
    bool has(const char* name, std::size_t node) const { return m_values.at(name).count(node) != 0; }
    std::string of(const char* name, std::size_t node) const {
        return has(name, node) ? m_values.at(name).at(node) : std::string();
    }

    void load_app(platform& p, std::size_t node) const {
        for (const char* name : image_names)
            if (has(name, node) && name != std::string("initrd"))
                throw input_error(
                    fmt::format("--app goes without --{}: the application brings its own software", name));
        fabricvp::load_app(
            p, node, of("app", node),
            {size_of(of("size", node), "size", 999'999'999'999), size_of(of("gpus", node), "gpus", max_app_gpus),
             of("placement", node), of("dispatch", node), of("initrd", node), of("option", node)});
    }

    std::map<std::string, std::map<std::size_t, std::string>> m_values;
};

}  // namespace

options::options_description override_options() {
    options::options_description o("configuration");
    o.add_options()("set", options::value<arguments>()->value_name("KEY=VALUE"),
                    "override a parameter, e.g. node.host.harts=4 (all nodes), node0.host.memory=1GiB or "
                    "node.gpus.*.compute_units=8 (all of a list); repeatable");
    o.add(plugin_options());
    return o;
}

options::options_description plugin_options() {
    options::options_description o;
    o.add_options()("plugin", repeatable("FILE"),
                    "load a plug-in (a shared library) first, whose kinds of devices the configuration may name; "
                    "repeatable");
    return o;
}

void load_plugins(const options::variables_map& given) {
    if (!given.count("plugin")) return;
    for (const auto& file : given["plugin"].as<arguments>()) try {
            load_plugin(file);
        } catch (const input_error& why) {
            throw input_error(fmt::format("--plugin {}", why.what()));
        }
}

options::options_description image_options() {
    options::options_description o(
        "images of node0, or with nodeN= before the value of another node (instead of those in the configuration)");
    o.add_options()("firmware", repeatable("FILE"), "ELF or raw binary the harts start with")(
        "kernel", repeatable("FILE"), "ELF, or raw image the firmware jumps to")(
        "initrd", repeatable("FILE"), "initial RAM disk; with --app spmv a Matrix Market file")(
        "append", repeatable("TEXT"), "kernel command line")(
        "tohost", repeatable("nodeN")->implicit_value({"node0"}, ""),
        "watch the program's `tohost` word (riscv-tests); --tohost=nodeN for another node")(
        "app", repeatable("NAME"), "run this GPU application (`fabricvp apps` lists them)")("size", repeatable("N"),
                                                                                            "its problem size")(
        "gpus", repeatable("N"), "it uses the first N GPUs (default: all; a kernel of your own: 1)")(
        "placement", repeatable("POLICY"),
        "where its pages go: contiguous (default), interleaved, lasp, first_touch or first_touch_recorded")(
        "dispatch", repeatable("POLICY"), "where its work-groups run: contiguous (default), round_robin, lasp or fill")(
        "option", repeatable("KEY=VALUE"),
        "of the application's own options, which `fabricvp apps` lists; several with commas between them");
    return o;
}

std::string text_option(const options::variables_map& given, const char* name) {
    return given.count(name) ? given[name].as<std::string>() : std::string();
}

std::uint64_t number_option(const std::string& text, std::uint64_t min, std::uint64_t max, const std::string& option) {
    const bool digits = !text.empty() && text.size() < 13 && text.find_first_not_of("0123456789") == std::string::npos;
    const auto value = digits ? std::stoull(text) : max + 1;
    if (value < min || value > max)
        throw input_error(fmt::format("{} {}: must be a number from {} to {}", option, quoted(text), min, max));
    return value;
}

std::map<std::size_t, std::string> by_node(const options::variables_map& given, const char* name, const platform& p) {
    std::map<std::size_t, std::string> values;
    if (!given.count(name)) return values;
    for (const auto& text : given[name].as<arguments>()) {
        const auto equals = text.find('=');
        auto node = node_index(text.substr(0, equals));
        const bool whole = equals == std::string::npos;  // "--tohost=node1": the node is the value
        if (whole && name != std::string("tohost")) node.reset();
        if (name == std::string("tohost") && (!whole || !node))
            throw input_error(fmt::format("--tohost {}: must be nodeN, or left out for node0", quoted(text)));
        if (node && *node >= p.node_count())
            throw input_error(fmt::format("--{} {}: there is no node{}: this machine has {}", name, quoted(text), *node,
                                          p.node_count()));
        if (!values.emplace(node.value_or(0), node && !whole ? text.substr(equals + 1) : text).second)
            throw input_error(fmt::format("--{} {}: is given twice for node{}", name, quoted(text), node.value_or(0)));
    }
    return values;
}

platform::overrides overrides_of(const options::variables_map& given) {
    platform::overrides set;
    if (given.count("set"))
        for (const auto& pair : given["set"].as<arguments>()) {
            const auto equals = pair.find('=');
            if (equals == std::string::npos)
                throw input_error(fmt::format("--set {}: must be KEY=VALUE", quoted(pair)));
            set.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
        }
    return set;
}

std::unique_ptr<platform> make_platform(const options::variables_map& given, const platform::overrides& more,
                                        ranks::communicator* communicator) {
    load_plugins(given);
    auto set = overrides_of(given);
    set.insert(set.end(), more.begin(), more.end());
    auto made = platform::from_config(given["CONFIG"].as<std::string>(), set, communicator);
    made->check_names();
    check_effect(made->hardware().params, overrides_of(given));
    return made;
}

std::vector<kernel_output> load_images(platform& p, const options::variables_map& given) {
    const node_options by_node(given, p);
    const auto kernel = kernel_launch_of(given, by_node.spread());
    if (kernel) {
        require_gpus(p, 0, "--kernel-elf " + quoted(text_option(given, "kernel-elf")), by_node.spread().gpus);
        const auto& core = p.hardware().nodes[0]->devices.gpus.front()->core;
        if (const std::uint64_t size = core.compute_units.front()->params.lds.size; kernel->lds_bytes > size)
            throw input_error(
                fmt::format("a work-group needs {} bytes of local data share, and compute units of GPU 0 have {}",
                            kernel->lds_bytes, size));
        p.load_images(0, kernel->images);
        if (given.count("out")) p.keep_initrd(0);  // the job is no file of the user's
    }
    if (!kernel && by_node.distributed(p)) {
        by_node.load(p, 0);
        return {};
    }
    for (std::size_t i = kernel ? 1 : 0; i < p.node_count(); ++i) by_node.load(p, i);
    return kernel ? kernel->outputs : std::vector<kernel_output>();
}

}  // namespace fabricvp::cli
