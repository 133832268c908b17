// SPDX-License-Identifier: Apache-2.0
#include "ethernet/segment.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/pending/disjoint_sets.hpp>
#include <boost/property_map/property_map.hpp>

#include "base/described_blocks.h"
#include "base/rejection.h"

namespace fabricvp::ethernet {

namespace {

[[noreturn]] void reject(const std::string& origin, const std::string& why) { reject_at(origin, "ethernet: " + why); }

const segment_params& checked(const segment_params& p, const std::vector<segment::adapter>& adapters) {
    std::set<std::string> names, one_link, linked;
    std::map<address, std::string> stations;
    for (const auto& a : adapters) {
        names.insert(a.name);
        one_link.insert(a.name);
        if (const auto [at, free] = stations.emplace(a.address, a.name); !free)
            reject({}, fmt::format("{} and {} have one address, {}", at->second, a.name, text_of(a.address)));
    }
    for (const auto& s : p.switches) {
        if (!is_block_name(s.name))
            reject(s.origin, fmt::format("'{}' is no name for a switch: give letters, digits and _", s.name));
        if (!names.insert(s.name).second) reject(s.origin, fmt::format("the name '{}' is taken twice", s.name));
    }
    // Ends that are joined already, however far apart: a link between two such would close a ring.
    std::map<std::string, int> ranks;
    std::map<std::string, std::string> above;
    const boost::associative_property_map<decltype(ranks)> rank_of(ranks);
    const boost::associative_property_map<decltype(above)> above_of(above);
    boost::disjoint_sets<decltype(rank_of), decltype(above_of)> connected(rank_of, above_of);
    for (const auto& n : names) connected.make_set(n);
    for (const auto& l : p.links) {
        for (const auto& end : {l.from, l.to}) {
            if (!names.count(end)) reject(l.origin, fmt::format("'{}' is none of: {}", end, fmt::join(names, ", ")));
            if (one_link.count(end) && !linked.insert(end).second)
                reject(l.origin, fmt::format("'{}' is linked twice: it has one port", end));
        }
        if (connected.find_set(l.from) == connected.find_set(l.to))
            reject(l.origin,
                   fmt::format("the link from '{}' to '{}' closes a ring, in which frames would go round for ever",
                               l.from, l.to));
        connected.union_set(l.from, l.to);
    }
    return p;
}

/// Names of the ports of each switch, in the order of the links.
std::map<std::string, std::vector<std::string>> plan_ports(const segment_params& p) {
    std::map<std::string, std::vector<std::string>> ports;
    for (const auto& l : p.links)
        for (const auto& [at, towards] : {std::pair{l.from, l.to}, {l.to, l.from}}) {
            auto name = "to_" + towards;
            std::replace(name.begin(), name.end(), '.', '_');
            ports[at].push_back(name);
        }
    return ports;
}

}  // namespace

void segment_params::switch_node::describe(parameter_visitor& v) {
    v.field("name", name, "name of the switch");
    if (auto where = v.origin_of("name"); !where.empty()) origin = std::move(where);
    switch_params::describe(v);
}

void segment_params::link_node::describe(parameter_visitor& v) {
    v.field("from", from, "a switch or an adapter (node0.pcie.net0)");
    v.field("to", to, "a switch or an adapter");
    if (auto where = v.origin_of(""); !where.empty()) origin = std::move(where);
    link_params::describe(v);
}

void segment_params::describe(parameter_visitor& v) {
    describe_blocks(v, "switches", switches, nullptr, "switches between network adapters");
    v.list("links", links, "cables between switches and network adapters");
}

segment::segment(const sc_core::sc_module_name& name, const segment_params& p, const std::vector<adapter>& adapters)
    : model(name), params(checked(p, adapters)), m_adapters(adapters) {
    auto ports = plan_ports(params);
    for (const auto& s : params.switches)
        switches.push_back(std::make_unique<ethernet_switch>(s.name.c_str(), s, ports[s.name]));
    connect_links();
    rank_ports();
}

void segment::connect_links() {
    std::map<std::string, std::vector<port*>> ends;
    for (const auto& a : m_adapters) ends[a.name] = {a.port};
    for (std::size_t s = 0; s < switches.size(); ++s)
        for (const auto& p : switches[s]->ports) ends[params.switches[s].name].push_back(p.get());
    std::map<std::string, std::size_t> used;
    for (const auto& l : params.links) {
        auto* from = ends.at(l.from)[used[l.from]++];
        connect(*from, *ends.at(l.to)[used[l.to]++], l);
    }
}

void segment::rank_ports() {
    std::vector<port*> all;
    for (const auto& a : m_adapters) all.push_back(a.port);
    for (const auto& s : switches)
        for (const auto& p : s->ports) all.push_back(p.get());
    link::rank_by_path(std::move(all), m_order);
}

void segment::reset() {
    m_order.clear();
    model::reset();
}

}  // namespace fabricvp::ethernet
