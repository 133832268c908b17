// SPDX-License-Identifier: Apache-2.0
#include "platform/machine_view.h"

#include <algorithm>
#include <map>
#include <typeinfo>
#include <vector>

#include <fmt/format.h>
#include <boost/core/demangle.hpp>

namespace fabricvp {
namespace {

std::string type_of(const sc_core::sc_object& object) {
    const auto full = boost::core::demangle(typeid(object).name());
    const auto colon = full.rfind("::");
    return colon == std::string::npos ? full : full.substr(colon + 2);
}

std::vector<const model*> blocks_of(const sc_core::sc_object& parent) {
    std::vector<const model*> blocks;
    for (const auto* child : parent.get_child_objects())
        if (const auto* block = dynamic_cast<const model*>(child)) blocks.push_back(block);
    return blocks;
}

/// Full name of a block → where it lies, for blocks on a node's bus.
std::map<std::string, std::string> places(const machine& m) {
    std::map<std::string, std::string> out;
    for (const auto& n : m.nodes)
        for (const auto& r : n->host.bus.ranges())
            out[fmt::format("{}.{}", n->host.name(), r.value.name)] =
                fmt::format("{:#x} … {:#x} ({})", r.base, r.last(), size_text(r.size));
    return out;
}

void add_branch(std::string& text, const sc_core::sc_object& parent, const std::string& indent,
                const std::map<std::string, std::string>& where) {
    const auto blocks = blocks_of(parent);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto& block = *blocks[i];
        const bool last = i + 1 == blocks.size();
        const auto place = where.find(block.name());
        text += fmt::format("{}{} {:<{}} {:<14}{}", indent, last ? "└─" : "├─", block.basename(),
                            20 > indent.size() / 2 ? 20 - indent.size() / 2 : 1, type_of(block),
                            place == where.end() ? "" : " " + place->second);
        while (text.back() == ' ') text.pop_back();
        text += '\n';
        add_branch(text, block, indent + (last ? "   " : "│  "), where);
    }
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 1024 && bytes % 1024 == 0 && unit + 1 < std::size(units)) {
        bytes /= 1024;
        ++unit;
    }
    return fmt::format("{} {}", bytes, units[unit]);
}

std::string machine_tree(const machine& m) {
    const auto where = places(m);
    std::string text;
    for (const auto& n : m.nodes) {
        text += fmt::format("{}\n", n->name());
        add_branch(text, *n, "", where);
    }
    for (const auto* between :
         {static_cast<const model*>(m.network.get()), static_cast<const model*>(m.ethernet.get())}) {
        if (!between) continue;
        text += fmt::format("{}\n", between->name());
        add_branch(text, *between, "", where);
    }
    return text;
}

}  // namespace fabricvp
