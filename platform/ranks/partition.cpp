// SPDX-License-Identifier: Apache-2.0
#include "platform/ranks/partition.h"

#include <algorithm>

#include <fmt/format.h>

#include "platform/common/input_error.h"

namespace fabricvp::ranks {

namespace {

std::string first_word(const std::string& path) { return path.substr(0, path.find('.')); }

}  // namespace

partition::partition(const machine_params& p, unsigned ranks) : m_ranks(ranks) {
    const auto parts = std::max(p.nodes.size(), p.network.generators.size());
    if (ranks < 1 || ranks > parts)
        throw input_error(
            fmt::format("{} ranks: this machine has {} part{} (nodes or generators): one for each rank is the most",
                        ranks, parts, parts == 1 ? "" : "s"));
    if (ranks > 1 && p.network.links.empty())
        throw input_error(
            fmt::format("{} ranks: this machine has no network between its nodes that it could be cut at", ranks));
    for (std::size_t i = 0; i < p.nodes.size(); ++i) m_nodes.push_back(block_owner(i, p.nodes.size()));
    place_network(p.network);
    check_ethernet(p);
}

bool partition::is_of_rank(const std::string& name, unsigned rank) const {
    const auto node = node_index(first_word(name));
    return node && (*node >= m_nodes.size() || m_nodes[*node] == rank);
}

void partition::check_scope(std::size_t node, const std::string& scope) const {
    if (first_word(scope) != fmt::format("node{}", node))
        throw input_error(fmt::format("{} ranks: node{}.host.marker.scope: marks can only reach their own node, not {}",
                                      m_ranks, node, scope.empty() ? "the machine" : scope));
}

void partition::place_network(const network::subnet_params& p) {
    for (std::size_t i = 0; i < p.generators.size(); ++i)
        m_network[p.generators[i].name] = block_owner(i, p.generators.size());
    const auto is_switch = [&](const std::string& name) {
        return std::any_of(p.switches.begin(), p.switches.end(), [&](const auto& s) { return s.name == name; });
    };
    for (const auto& l : p.links)
        for (const auto& [at, other] : {std::pair(l.from, l.to), std::pair(l.to, l.from)})
            if (is_switch(at) && !is_switch(other) && !m_network.count(at)) m_network[at] = of_vertex(other);
    std::vector<std::string> inner;
    for (const auto& s : p.switches)
        if (!m_network.count(s.name)) inner.push_back(s.name);
    for (std::size_t i = 0; i < inner.size(); ++i) m_network[inner[i]] = block_owner(i, inner.size());
}

/// Ethernet links are not cut.
void partition::check_ethernet(const machine_params& p) const {
    std::vector<unsigned> used;
    for (const auto& l : p.ethernet.links)
        for (const auto& end : {l.from, l.to})
            if (const auto node = node_index(first_word(end))) used.push_back(of_node(*node));
    if (std::any_of(used.begin(), used.end(), [&](unsigned r) { return r != used.front(); }))
        throw input_error(fmt::format("{} ranks: nodes are joined by Ethernet, which cannot be cut", m_ranks));
}

unsigned partition::of_vertex(const std::string& name) const {
    if (const auto found = m_network.find(name); found != m_network.end()) return found->second;
    return m_nodes.at(node_index(first_word(name)).value_or(m_nodes.size()));
}

unsigned partition::of_block(const std::string& path) const {
    const auto first = first_word(path);
    if (const auto node = node_index(first); node && *node < m_nodes.size()) return m_nodes[*node];
    if (first == "network" && path.size() > first.size())
        if (const auto found = m_network.find(first_word(path.substr(first.size() + 1))); found != m_network.end())
            return found->second;
    if (first == "ethernet") return 0;
    throw input_error(fmt::format(
        "{} ranks: '{}' is no block of one rank: name a node, or a switch or generator of the network", m_ranks, path));
}

}  // namespace fabricvp::ranks
