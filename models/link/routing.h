// SPDX-License-Identifier: Apache-2.0
// Ways through a graph of switches. Each destination has one way from everywhere, so packets of one pair of terminals
// and one virtual channel stay in order.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace fabricvp::link {

struct topology {
    std::size_t terminals = 0;  ///< vertices 0 … terminals - 1; packets do not pass through them
    std::size_t switches = 0;   ///< the vertices after them
    std::vector<std::pair<std::size_t, std::size_t>> links;
    std::size_t vertices() const { return terminals + switches; }
};

inline constexpr std::size_t no_link = ~std::size_t{0};

/// By vertex and terminal: the link by which a packet goes on, `no_link` where it has arrived or there is no way.
using routing_table = std::vector<std::vector<std::size_t>>;

/// Shortest ways; where several are as short, destinations share them in turns.
routing_table shortest_routes(const topology& t);
/// First towards the first switch, then away from it, never up again after down (Schroeder et al., Autonet, 1991),
/// which may be longer but cannot deadlock.
routing_table up_down_routes(const topology& t);
/// Shortest ways, or if packets could then wait for each other in a ring (in a ring of switches, say), up*/down* ones.
routing_table find_routes(const topology& t);

/// The buffer behind one direction of a link: away from a vertex.
struct link_direction {
    std::size_t link, from;
};
/// Packets in the first may wait for room in the second.
using buffer_dependencies = std::vector<std::pair<link_direction, link_direction>>;

/// Whether packets can wait for each other in a ring: those that follow the table between the first `among` terminals,
/// and others that go elsewhere.
bool can_deadlock(const topology& t, const routing_table& table, std::size_t among = ~std::size_t{0},
                  const buffer_dependencies& others = {});

}  // namespace fabricvp::link
