// SPDX-License-Identifier: Apache-2.0
#include "analytic/graph_families.h"

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>

namespace fabricvp::analytic {

namespace {

std::vector<std::size_t> members(std::uint64_t subset) {
    std::vector<std::size_t> m;
    for (std::size_t i = 0; subset >> i; ++i)
        if (subset >> i & 1) m.push_back(i);
    return m;
}

template <class Edge>
std::vector<communication_graph> one_to_subsets(std::size_t endpoints, Edge edge) {
    std::vector<communication_graph> graphs;
    for (std::size_t one = 0; one < endpoints; ++one)
        for (std::uint64_t subset = 1; subset < std::uint64_t{1} << endpoints; ++subset) {
            if (subset >> one & 1) continue;
            communication_graph g;
            for (auto other : members(subset)) g.push_back(edge(one, other));
            graphs.push_back(std::move(g));
        }
    return graphs;
}

}  // namespace

std::vector<communication_graph> all_scatters(std::size_t endpoints) {
    return one_to_subsets(endpoints, [](std::size_t one, std::size_t other) { return std::pair(one, other); });
}

std::vector<communication_graph> all_gathers(std::size_t endpoints) {
    return one_to_subsets(endpoints, [](std::size_t one, std::size_t other) { return std::pair(other, one); });
}

std::vector<communication_graph> all_to_all_subsets(std::size_t endpoints) {
    std::vector<communication_graph> graphs;
    for (std::uint64_t subset = 1; subset < std::uint64_t{1} << endpoints; ++subset) {
        const auto m = members(subset);
        if (m.size() < 2) continue;
        communication_graph g;
        for (auto s : m)
            for (auto d : m)
                if (s != d) g.emplace_back(s, d);
        graphs.push_back(std::move(g));
    }
    return graphs;
}

communication_graph canonical_graph(const communication_graph& graph,
                                    const std::vector<std::vector<std::size_t>>& relabellings) {
    communication_graph smallest, g(graph.size());
    for (const auto& r : relabellings) {
        for (std::size_t i = 0; i < graph.size(); ++i) g[i] = {r[graph[i].first], r[graph[i].second]};
        std::sort(g.begin(), g.end());
        if (smallest.empty() || g < smallest) smallest = g;
    }
    return smallest;
}

std::vector<communication_graph> random_graphs(const pcie_tree& tree, std::size_t count, std::uint64_t seed,
                                               std::size_t max_edges) {
    const auto n = tree.endpoints();
    if (n < 2 || max_edges == 0) throw std::invalid_argument("random graphs need two endpoints and an edge");
    const auto relabellings = tree.automorphisms();
    std::mt19937_64 random(seed);
    // Plain remainders: std::uniform_int_distribution differs between libraries, and the bias is below 1e-17.
    const auto pick = [&random](std::size_t below) { return static_cast<std::size_t>(random() % below); };
    std::set<communication_graph> seen;
    std::vector<communication_graph> graphs;
    for (std::size_t tries = 0; graphs.size() < count; ++tries) {
        if (tries > 1000 * count + 1000) throw std::invalid_argument("there are not that many different graphs");
        const auto edges = std::min(1 + pick(max_edges), n * (n - 1));
        std::set<std::pair<std::size_t, std::size_t>> chosen;
        while (chosen.size() < edges) {
            const auto s = pick(n), d = pick(n - 1);
            chosen.emplace(s, d < s ? d : d + 1);
        }
        communication_graph g(chosen.begin(), chosen.end());
        if (seen.insert(canonical_graph(g, relabellings)).second) graphs.push_back(std::move(g));
    }
    return graphs;
}

}  // namespace fabricvp::analytic
