// SPDX-License-Identifier: Apache-2.0
// Multicast forwarding tables: the packets of a group go along a tree over all switches, as far as there are members
// behind.
#include <algorithm>

#include "network/subnet.h"

namespace fabricvp::network {

/// Breadth first, from the first switch of each part that hangs together; so parents stand before their children.
std::vector<subnet::branch> subnet::multicast_tree() const {
    std::vector<branch> tree;
    std::vector<std::uint8_t> seen(switches.size());
    for (std::size_t root = 0; root < switches.size(); ++root) {
        if (seen[root]) continue;
        seen[root] = true;
        tree.push_back({root, no_switch, 0, 0, 0});
        for (auto n = tree.size() - 1; n < tree.size(); ++n)
            for (std::size_t l = 0; l < m_links.size(); ++l) {
                const auto here = tree[n].at, a = switch_at(m_vertices[l].first), b = switch_at(m_vertices[l].second);
                const auto other = a == here ? b : b == here ? a : no_switch;
                if (other == no_switch || seen[other] || !usable(l)) continue;
                seen[other] = true;
                tree.push_back({other, here, l, port_number(other, l), port_number(here, l)});
            }
    }
    return tree;
}

/// What holds up packets of groups: at each switch of the tree they go on by all of its links but the one they came by.
link::buffer_dependencies subnet::multicast_dependencies(const std::vector<std::size_t>& numbers) const {
    link::buffer_dependencies found;
    if (!has_groups()) return found;
    const auto tree = multicast_tree();
    const auto in_topology = [&](std::size_t l) {
        return static_cast<std::size_t>(std::find(numbers.begin(), numbers.end(), l) - numbers.begin());
    };
    for (std::size_t s = 0; s < switches.size(); ++s) {
        std::vector<std::pair<std::size_t, std::size_t>>
            around;  // links of the tree, and the switches at their other ends
        for (const auto& b : tree)
            if (b.parent != no_switch && (b.at == s || b.parent == s))
                around.emplace_back(in_topology(b.link), switch_vertex(b.at == s ? b.parent : b.at));
        for (const auto& [in, from] : around)
            for (const auto& out : around)
                if (out.first != in) found.push_back({{in, from}, {out.first, switch_vertex(s)}});
    }
    return found;
}

void subnet::route_multicast() {
    if (!has_groups()) return;
    const auto tree = multicast_tree();
    for (const auto& group : params.multicast) {
        const auto& wanted = group.members;
        route_group(tree, static_cast<std::uint16_t>(group.lid), [&](std::size_t end) {
            return wanted.empty() || std::find(wanted.begin(), wanted.end(), m_ends[end].name) != wanted.end();
        });
    }
    for (const auto& [lid, members] : m_joined)
        route_group(tree, lid, [&members = members](std::size_t end) { return members.count(end) != 0; });
}

void subnet::route_group(const std::vector<branch>& tree, std::uint16_t lid,
                         const std::function<bool(std::size_t end)>& is_member) {
    std::vector<network_switch::port_set> ports(switches.size());
    std::vector<std::size_t> members(switches.size());  // at a switch and behind its children
    std::size_t all = 0;
    for (std::size_t l = 0; l < m_links.size(); ++l)
        for (const bool from : {true, false}) {
            const auto end = from ? m_vertices[l].first : m_vertices[l].second,
                       s = switch_at(from ? m_vertices[l].second : m_vertices[l].first);
            if (s == no_switch || end >= m_adapters.size() || !usable(l) || !is_member(end)) continue;
            ports[s].set(port_number(s, l));
            ++members[s];
            ++all;
        }
    for (auto n = tree.rbegin(); n != tree.rend(); ++n) {
        if (n->parent == no_switch) continue;
        members[n->parent] += members[n->at];
        if (members[n->at]) ports[n->parent].set(n->down);
    }
    // A sender need not be a member: what has members elsewhere goes up from everywhere.
    for (const auto& n : tree)
        if (n.parent != no_switch && all > members[n.at]) ports[n.at].set(n.up);
    for (std::size_t s = 0; s < switches.size(); ++s)
        if (switches[s]) switches[s]->set_multicast(lid, ports[s]);
}

/// A first group may need routes that cannot deadlock with it. One without members stays, and leads nowhere.
void subnet::apply_membership(const link_message& m) {
    const bool first = !has_groups();
    if (m.signal)
        m_joined[m.membership].insert(m.end);
    else
        m_joined[m.membership].erase(m.end);
    if (first)
        route(false);
    else
        route_multicast();
}

}  // namespace fabricvp::network
