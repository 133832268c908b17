// SPDX-License-Identifier: Apache-2.0
#include "link/routing.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>

namespace fabricvp::link {

namespace {

constexpr auto unreachable = std::numeric_limits<std::size_t>::max();

struct neighbour {
    std::size_t vertex, link;
};
using neighbours = std::vector<std::vector<neighbour>>;

neighbours neighbours_of(const topology& t) {
    neighbours n(t.vertices());
    for (std::size_t l = 0; l < t.links.size(); ++l) {
        n[t.links[l].first].push_back({t.links[l].second, l});
        n[t.links[l].second].push_back({t.links[l].first, l});
    }
    return n;
}

/// Distances to a vertex over steps that `may` be taken (from, to); terminals other than it are not passed through.
template <class May>
std::vector<std::size_t> distances(const topology& t, const neighbours& n, std::size_t to, May may) {
    std::vector<std::size_t> d(t.vertices(), unreachable);
    std::deque<std::size_t> open{to};
    d[to] = 0;
    while (!open.empty()) {
        const auto v = open.front();
        open.pop_front();
        if (v != to && v < t.terminals) continue;
        for (const auto& w : n[v])
            if (d[w.vertex] == unreachable && may(w.vertex, v)) {
                d[w.vertex] = d[v] + 1;
                open.push_back(w.vertex);
            }
    }
    return d;
}

/// Of the links that are as good as any, the one whose turn it is for this terminal.
template <class Cost>
std::size_t best_link(const std::vector<neighbour>& from, std::size_t terminal, Cost cost) {
    auto min_cost = unreachable;
    for (const auto& w : from) min_cost = std::min(min_cost, cost(w.vertex));
    if (min_cost == unreachable) return no_link;
    const auto equal = [&](const neighbour& w) { return cost(w.vertex) == min_cost; };
    auto skip = terminal % static_cast<std::size_t>(std::count_if(from.begin(), from.end(), equal));
    return std::find_if(from.begin(), from.end(), [&](const neighbour& w) { return equal(w) && skip-- == 0; })->link;
}

routing_table shortest(const topology& t, const neighbours& n) {
    routing_table table(t.vertices(), std::vector<std::size_t>(t.terminals, no_link));
    for (std::size_t d = 0; d < t.terminals; ++d) {
        const auto distance = distances(t, n, d, [](auto, auto) { return true; });
        for (std::size_t v = 0; v < t.vertices(); ++v) {
            if (v == d || distance[v] == unreachable) continue;
            table[v][d] = best_link(
                n[v], d, [&](std::size_t w) { return w == d || w >= t.terminals ? distance[w] : unreachable; });
        }
    }
    return table;
}

routing_table up_down(const topology& t, const neighbours& n) {
    // Levels by distance from the first switch of each part; a link goes up to the lower level, or number at equal
    // levels.
    std::vector<std::size_t> level(t.vertices(), unreachable);
    for (std::size_t root = t.terminals; root < t.vertices(); ++root) {
        if (level[root] != unreachable) continue;
        const auto d = distances(t, n, root, [](auto, auto) { return true; });
        for (std::size_t v = 0; v < t.vertices(); ++v)
            if (d[v] != unreachable) level[v] = std::min(level[v], d[v]);
    }
    const auto up = [&](std::size_t from, std::size_t to) {
        return std::make_pair(level[to], to) < std::make_pair(level[from], from);
    };
    routing_table table(t.vertices(), std::vector<std::size_t>(t.terminals, no_link));
    for (std::size_t d = 0; d < t.terminals; ++d) {
        const auto down = distances(t, n, d, [&](std::size_t from, std::size_t to) { return !up(from, to); });
        // A vertex that cannot go down all the way goes up; levels grow upwards, so this is worked out from the top.
        std::vector<std::size_t> order(t.vertices()), cost(t.vertices(), unreachable);
        for (std::size_t v = 0; v < order.size(); ++v) order[v] = v;
        std::sort(order.begin(), order.end(),
                  [&](auto a, auto b) { return std::make_pair(level[a], a) < std::make_pair(level[b], b); });
        for (const auto v : order) {
            if (v == d) continue;
            if (down[v] != unreachable) {
                cost[v] = down[v];
                table[v][d] = best_link(n[v], d, [&](std::size_t w) {
                    return !up(v, w) && (w == d || w >= t.terminals) ? down[w] : unreachable;
                });
                continue;
            }
            const auto over = [&](std::size_t w) { return up(v, w) && w >= t.terminals ? cost[w] : unreachable; };
            table[v][d] = best_link(n[v], d, over);
            if (table[v][d] == no_link) continue;
            const auto& l = t.links[table[v][d]];
            cost[v] = cost[l.first == v ? l.second : l.first] + 1;
        }
    }
    return table;
}

}  // namespace

bool can_deadlock(const topology& t, const routing_table& table, std::size_t among, const buffer_dependencies& others) {
    // Vertices are the buffers behind each direction of each link, edges say that a packet in one waits for the other.
    using graph = boost::adjacency_list<boost::setS, boost::vecS, boost::directedS>;
    graph behind(2 * t.links.size());
    const auto direction = [&](std::size_t link, std::size_t from) {
        return 2 * link + (t.links[link].first == from ? 0 : 1);
    };
    std::vector<std::size_t> seen(t.vertices(), unreachable);  // the destination on whose way a vertex has been met
    among = std::min(among, t.terminals);
    for (std::size_t d = 0; d < among; ++d)
        for (std::size_t s = 0; s < among; ++s) {
            auto at = s;
            auto held = no_link;
            while (at != d && table[at][d] != no_link) {
                const auto link = table[at][d];
                const auto next = direction(link, at);
                if (held != no_link) boost::add_edge(held, next, behind);
                if (seen[at] == d) break;  // from here on the way is known
                seen[at] = d;
                held = next;
                at = t.links[link].first == at ? t.links[link].second : t.links[link].first;
            }
        }
    for (const auto& [held, next] : others)
        boost::add_edge(direction(held.link, held.from), direction(next.link, next.from), behind);
    std::vector<std::size_t> order;
    try {
        boost::topological_sort(behind, std::back_inserter(order));
    } catch (const boost::not_a_dag&) {
        return true;
    }
    return false;
}

routing_table shortest_routes(const topology& t) { return shortest(t, neighbours_of(t)); }

routing_table up_down_routes(const topology& t) { return up_down(t, neighbours_of(t)); }

routing_table find_routes(const topology& t) {
    auto table = shortest_routes(t);
    return can_deadlock(t, table) ? up_down_routes(t) : table;
}

}  // namespace fabricvp::link
