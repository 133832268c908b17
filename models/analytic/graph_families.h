// SPDX-License-Identifier: Apache-2.0
// Families of communication graphs on which a congestion model is tried: every scatter, every gather, all-to-all on
// every subset of endpoints, and random graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analytic/pcie_tree.h"

namespace fabricvp::analytic {

/// Pairs (source, destination), each at most once.
using communication_graph = std::vector<std::pair<std::size_t, std::size_t>>;

/// One source to every non-empty set of others.
std::vector<communication_graph> all_scatters(std::size_t endpoints);
/// Every non-empty set of others to one destination.
std::vector<communication_graph> all_gathers(std::size_t endpoints);
/// All to all, for every subset of at least two endpoints.
std::vector<communication_graph> all_to_all_subsets(std::size_t endpoints);

/// `count` random graphs with 1 to `max_edges` communications, no two the same up to a relabelling of endpoints that
/// leaves the tree the same. The same seed gives the same graphs on every platform.
/// \throws std::invalid_argument if so many different graphs do not turn up
std::vector<communication_graph> random_graphs(const pcie_tree& tree, std::size_t count, std::uint64_t seed,
                                               std::size_t max_edges = 8);

/// The smallest of all relabellings of `graph` by `relabellings` (pcie_tree::automorphisms()).
communication_graph canonical_graph(const communication_graph& graph,
                                    const std::vector<std::vector<std::size_t>>& relabellings);

}  // namespace fabricvp::analytic
