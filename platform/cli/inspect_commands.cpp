// SPDX-License-Identifier: Apache-2.0
// Commands that look at configurations without running them.
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <systemc>

#include "platform/block_description.h"
#include "platform/cli/command.h"
#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/config/config_listing.h"
#include "platform/config/config_reference.h"
#include "platform/config/config_schema.h"
#include "platform/fault_plan.h"
#include "platform/machine.h"
#include "platform/machine_view.h"
#include "platform/pci_enumeration.h"
#include "platform/topology.h"

namespace fabricvp::cli {
namespace {

int print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    return status::ok;
}

options::options_description check_options() {
    options::options_description o;
    o.add(image_options()).add(override_options());
    return o;
}

int check(const options::variables_map& given) {
    auto p = make_platform(given);
    load_images(*p, given);
    const char* const remark = p->has_work() ? "" : "; it runs nothing without --app, --program or an image";
    return print(fmt::format("{}: ok{}\n", given["CONFIG"].as<std::string>(), remark));
}

options::options_description describe_options() {
    options::options_description own;
    own.add_options()("topology", "print blocks and links as JSON instead (topology.json of a run)")(
        "faults", "print the faults that can be injected instead")(
        "pci-dump",
        "enumerate the PCIe trees, and print every configuration space as `lspci -xxxx` does instead; for `lspci -F`")(
        "svg", options::value<std::string>()->value_name("FILE"), "write a picture instead, as `fabricvp draw` does")(
        "dot", "print a graph for Graphviz instead, as `fabricvp draw` does");
    own.add(override_options());
    return own;
}

int describe(const options::variables_map& given) {
    const auto config = given["CONFIG"].as<std::string>();
    if (given.count("svg"))
        throw input_error(
            fmt::format("--svg: `fabricvp draw {} --svg {}` draws the machine", config, text_option(given, "svg")));
    if (given.count("dot")) throw input_error(fmt::format("--dot: `fabricvp draw {} --dot` prints the graph", config));
    auto p = make_platform(given);
    auto& hardware = p->hardware();
    if (given.count("PATH")) {
        for (const char* option : {"topology", "faults", "pci-dump"})
            if (given.count(option))
                throw input_error(
                    fmt::format("--{} is about the whole machine: leave {} out", option, text_option(given, "PATH")));
        return print(describe_block(hardware, text_option(given, "PATH")));
    }
    if (given.count("topology")) return print(topology_text(topology_of(hardware, p->statistics())));
    if (given.count("faults")) return print(fault_listing());
    if (given.count("pci-dump")) return print(pci_dump(p->hardware()));
    config_listing listing;
    auto params = hardware.params;
    params.describe(listing);
    return print(fmt::format("{}\nParameters\n{}", machine_tree(hardware), listing.text()));
}

int schema(const options::variables_map& given) {
    load_plugins(given);
    return print(machine_schema());
}

int reference(const options::variables_map& given) {
    load_plugins(given);
    return print(machine_reference());
}

int version(const options::variables_map&) {
    return print(fmt::format("fabricvp {} ({})\n", FABRICVP_VERSION, sc_core::sc_version()));
}

}  // namespace

command check_command() {
    return {"check",
            "CONFIG [options]",
            "Reads a configuration and its images and says what is wrong with them.",
            "fabricvp check my.yaml --set node.host.harts=4",
            check_options,
            {"CONFIG"},
            check};
}

command describe_command() {
    return {"describe",
            "CONFIG [PATH] [options]",
            "Shows the machine as a tree, and every parameter with its value and help; with a path, what is there: "
            "parameters, statistics, faults.",
            "fabricvp describe uboot node0.host.uart",
            describe_options,
            {"CONFIG"},
            describe,
            {"PATH"}};
}

command schema_command() {
    return {"schema",
            "[options]",
            "Prints the JSON schema of configuration files.",
            "fabricvp schema > fabricvp.schema.json",
            plugin_options,
            {},
            schema};
}

command reference_command() {
    return {"reference",
            "[options]",
            "Prints the reference page of all parameters, in Markdown.",
            "fabricvp reference > parameters.md",
            plugin_options,
            {},
            reference};
}

command version_command() {
    return {"version", "", "Prints the version.", "fabricvp version", no_options, {}, version};
}

}  // namespace fabricvp::cli
