// SPDX-License-Identifier: Apache-2.0
// `--set` of a part that the machine does not have.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "platform/cli/command.h"
#include "platform/common/input_error.h"
#include "platform/machine.h"

namespace fabricvp::cli {
namespace {

using path = std::vector<std::string>;

path parts_of(const std::string& text) {
    path parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, '.');) parts.push_back(part);
    return parts;
}

/// Whether a path leads below these names: a group, not one of the lists that would make it exist.
bool is_below(const path& p, std::size_t from, const std::vector<std::string>& names) {
    static const std::vector<std::string> lists = {"switches", "links", "generators", "endpoints"};
    return p.size() > from + names.size() &&
           std::equal(names.begin(), names.end(), p.begin() + static_cast<long>(from)) &&
           std::find(lists.begin(), lists.end(), p[from + names.size()]) == lists.end();
}

/// Why nothing on a node heeds it; empty if something does.
std::string why_unused(const node_params& n, const path& p) {
    if (n.fabric.empty() && is_below(p, 1, {"fabric"})) return "GPUs have no fabric (fabric.links)";
    if (n.pcie.empty() && is_below(p, 1, {"pcie"})) return "there is no PCIe device";
    if (n.host.memory_timing != host::memory_timing_kind::caches && is_below(p, 1, {"host", "caches"}))
        return "caches are modelled with host.memory_timing: caches";
    if (n.host.interrupts != host::interrupt_controllers::aplic_imsic && is_below(p, 1, {"host", "imsic"}))
        return "the host has an IMSIC with host.interrupts: aplic_imsic";
    return {};
}

}  // namespace

void check_effect(const machine_params& machine, const platform::overrides& set) {
    for (const auto& [key, value] : set) {
        const auto p = parts_of(key);
        const auto reject = [&, &value = value, &key = key](const std::string& why) {
            throw input_error(fmt::format("--set {}: has no effect: {}", quoted(key + "=" + value), why));
        };
        if (machine.network.empty() && is_below(p, 0, {"network"})) reject("there is no network (network.links)");
        if (machine.ethernet.empty() && is_below(p, 0, {"ethernet"})) reject("there is no Ethernet (ethernet.links)");
        const auto node = p.empty() ? std::nullopt : node_index(p[0]);
        if (p.empty() || (!node && p[0] != "node")) continue;
        std::string why;
        const auto first = node.value_or(0), end = node ? *node + 1 : machine.nodes.size();
        for (auto i = first; i < std::min(end, machine.nodes.size()); ++i) {
            why = why_unused(machine.nodes[i], p);
            if (why.empty()) break;  // of several nodes, one that has the part is enough
        }
        if (!why.empty()) reject(why);
    }
}

}  // namespace fabricvp::cli
