// SPDX-License-Identifier: Apache-2.0
#include "pcie/tree.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "base/described_blocks.h"
#include "pcie/link_speed.h"

namespace fabricvp::pcie {

namespace {

constexpr std::size_t max_buses = 256;  // of a hierarchy: bus numbers have 8 bits

std::uint64_t children_of(const tree_params& p, const std::string& where) {
    const auto below = [&](const auto& n) { return n.below == where; };
    return static_cast<std::uint64_t>(std::count_if(p.switches.begin(), p.switches.end(), below) +
                                      std::count_if(p.endpoints.begin(), p.endpoints.end(), below) +
                                      std::count_if(p.slots.begin(), p.slots.end(), below));
}

[[noreturn]] void reject(const std::string& origin, const std::string& why) { reject_at(origin, "pcie: " + why); }

void check_power_of_two(std::uint64_t value, const std::string& what, const std::string& origin) {
    if (value == 0 || value & (value - 1)) reject(origin, fmt::format("{} is {}: give a power of two", what, value));
}

void check_port(const port_params& p, const std::string& what, const std::string& origin) {
    check_power_of_two(p.max_payload, what + ".max_payload", origin);
    if (!is_width(p.width)) reject(origin, fmt::format("{}.width is {}: give one of {}", what, p.width, width_list));
}

void check_endpoint(const endpoint_params& e, const std::string& name, const parameter_origin& where) {
    check_port(e.link, name + ".link", where.of("link"));
    check_power_of_two(e.completion_boundary, name + ".completion_boundary", where.of("completion_boundary"));
}

/// Both ends of each link can hold what the other one sends.
void check_buffers(const tree_params& p) {
    const auto check = [](const port_params& here, const port_params& other_end, const std::string& what,
                          const std::string& origin) {
        if (const auto why = shortage(here, other_end); !why.empty()) reject(origin, what + '.' + why);
    };
    const auto check_link = [&](const std::string& below, const port_params& port, const std::string& what,
                                const std::string& origin) {
        const auto above =
            std::find_if(p.switches.begin(), p.switches.end(), [&](const auto& s) { return s.name == below; });
        const bool at_root = above == p.switches.end();
        const auto& parent = at_root ? p.root.root_port : above->downstream_port;
        check(parent, port, at_root ? "root.root_port" : below + ".downstream_port",
              at_root ? p.where.of("root") : above->where.of("downstream_port"));
        check(port, parent, what, origin);
    };
    for (const auto& s : p.switches)
        check_link(s.below, s.upstream_port, s.name + ".upstream_port", s.where.of("upstream_port"));
    for (const auto& e : p.endpoints)
        check_link(e.below, e.device.settings().endpoint().link, e.name + ".link", e.where.of("link"));
    for (const auto& s : p.slots) check_link(s.below, s.device.link, s.name + ".link", s.where.of("link"));
}

/// The root complex with as many ports as the description plugs into it, once the description has been checked.
root_complex_params checked_root(const tree_params& p) {
    // Each link is a bus, and each switch has one inside. Checked first: what follows takes time by the square.
    const auto buses = 1 + 2 * p.switches.size() + p.endpoints.size() + p.slots.size();
    if (buses > max_buses)
        reject(p.switches.empty() ? p.where.own() : p.switches.back().where.own(),
               fmt::format("{} switches and {} devices make {} buses: {} at most", p.switches.size(),
                           p.endpoints.size() + p.slots.size(), buses, max_buses));
    std::set<std::string> names{"root"};
    const auto check = [&](const auto& n, const char* kind) {
        if (!is_block_name(n.name))
            reject(n.where.of("name"), fmt::format("'{}' is no name for {}: give letters, digits and _", n.name, kind));
        if (!names.count(n.below))
            reject(
                n.where.of("below"),
                fmt::format("{} '{}' is below '{}', which is neither root nor a switch listed before it (allowed: {})",
                            kind, n.name, n.below, allowed_names(names)));
        if (names.count(n.name)) reject(n.where.of("name"), fmt::format("the name '{}' is taken twice", n.name));
    };
    for (const auto& s : p.switches) {
        check(s, "switch");
        names.insert(s.name);
        check_port(s.upstream_port, s.name + ".upstream_port", s.where.of("upstream_port"));
        check_port(s.downstream_port, s.name + ".downstream_port", s.where.of("downstream_port"));
        const auto ports = children_of(p, s.name);
        if (ports < 1 || ports > 31)
            reject(s.where.own(), fmt::format("switch '{}' has {} ports in use: 1 … 31", s.name, ports));
    }
    std::set<std::string> endpoints;
    for (const auto& e : p.endpoints) {
        check(e, "endpoint");
        check_endpoint(e.device.settings().endpoint(), e.name, e.where);
        if (!endpoints.insert(e.name).second)
            reject(e.where.of("name"), fmt::format("the name '{}' is taken twice", e.name));
    }
    for (const auto& s : p.slots) {
        check(s, "device");
        if (!endpoints.insert(s.name).second)
            reject(s.where.own(), fmt::format("the name '{}' is taken twice", s.name));
        check_endpoint(s.device, s.name, s.where);
    }
    check_port(p.root.root_port, "root.root_port", p.where.of("root"));
    check_power_of_two(p.root.completion_boundary, "root.completion_boundary", p.where.of("root"));
    check_power_of_two(p.root.peer_to_peer_payload, "root.peer_to_peer_payload", p.where.of("root"));
    check_buffers(p);
    auto root = p.root;
    root.root_ports = children_of(p, "root");
    if (root.root_ports > 31) reject(p.where.own(), "more than 31 links below the root complex");
    return root;
}

constexpr const char* arbitration_weight_help =
    "TLPs from here that may pass one after the other where ports share an egress (weighted round robin)";

}  // namespace

void tree_params::switch_node::describe(parameter_visitor& v) {
    where.note(v, {"name", "below", "upstream_port", "downstream_port"});
    v.field("name", name, "name of the switch");
    v.field("below", below, "root, or a switch listed before");
    v.group("upstream_port", upstream_port, "the port towards the root");
    v.group("downstream_port", downstream_port, "every port away from the root");
    v.field("arbitration_weight", arbitration_weight, between{1, 1024}, arbitration_weight_help);
    v.field("upstream_arbitration_weight", upstream_arbitration_weight, between{1, 1024},
            "the same for what comes into this switch from above");
    v.field("hot_plug", hot_plug,
            "devices below may be pulled out and plugged in: their going is an event, not an error");
}

void tree_params::endpoint_node::describe(parameter_visitor& v) {
    where.note(v, {"name", "below", "link", "completion_boundary"});
    v.field("name", name, "name of the endpoint");
    v.field("below", below, "root, or a switch");
    v.field("arbitration_weight", arbitration_weight, between{1, 1024}, arbitration_weight_help);
    device.describe(v);
}

void tree_params::describe(parameter_visitor& v) {
    where.note(v, {"root"});
    v.group("root", root, "root complex");
    describe_blocks(v, "switches", switches, nullptr, "switches");
    describe_blocks(v, "endpoints", endpoints, nullptr, "devices");
}

tree::tree(const sc_core::sc_module_name& name, const tree_params& p)
    : model(name), params(p), root("root", checked_root(p)) {
    for (const auto& s : params.switches) {
        switch_params w;
        w.downstream_ports = children_of(params, s.name);
        w.upstream_port = s.upstream_port;
        w.downstream_port = s.downstream_port;
        w.hot_plug = s.hot_plug;
        auto& port = next_port_below(s.below, s.arbitration_weight);
        switches.push_back(std::make_unique<pcie_switch>(s.name.c_str(), w));
        switches.back()->set_weight(0, static_cast<unsigned>(s.upstream_arbitration_weight));
        connect(port, switches.back()->upstream_port());
    }
    for (const auto& e : params.endpoints) {
        auto& port = next_port_below(e.below, e.arbitration_weight);
        try {
            endpoints.push_back(e.device.settings().make(e.name));
        } catch (const std::invalid_argument& refused) {
            reject(e.where.own(), fmt::format("{}: {}", e.name, refused.what()));
        }
        connect(port, endpoints.back()->link);
    }
    for (const auto& s : params.slots) m_slots.push_back(&next_port_below(s.below));
}

std::vector<copy_engine*> tree::copy_engines() const {
    std::vector<copy_engine*> found;
    for (const auto& e : endpoints)
        if (auto* engine = dynamic_cast<copy_engine*>(e.get())) found.push_back(engine);
    return found;
}

port& tree::next_port_below(const std::string& where, std::uint64_t arbitration_weight) {
    const auto index = m_plugged[where]++;
    const auto weight = static_cast<unsigned>(arbitration_weight);
    if (where == "root") {
        root.set_weight(index, weight);
        return root.root_port(index);
    }
    const auto at =
        std::find_if(params.switches.begin(), params.switches.end(), [&](const auto& s) { return s.name == where; });
    auto& parent = *switches[static_cast<std::size_t>(at - params.switches.begin())];
    parent.set_weight(index + 1, weight);
    return parent.downstream_port(index);
}

}  // namespace fabricvp::pcie
