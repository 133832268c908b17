// SPDX-License-Identifier: Apache-2.0
// Which order of messages makes a halo exchange fastest? Each sender sends one message to each of its neighbours, one
// after the other; its k-th message starts in step k, and a step ends with its last message. All orders are evaluated
// exactly; equal step graphs (up to relabelling that leaves the tree the same) are solved once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analytic/congestion_model.h"

namespace fabricvp::analytic {

/// The exchange's graph: `neighbours[sender]` lists destinations in natural order.
struct exchange_pattern {
    std::vector<std::vector<std::size_t>> neighbours;
    /// COSMO on 8 GPUs: a 4 x 2 grid (0 1 2 3 above 4 5 6 7).
    static exchange_pattern grid_2d();
    /// A 2 x 2 x 2 cube; neighbours differ in one bit of their number.
    static exchange_pattern cube_3d();
};

/// An order: for each sender its destinations in sequence.
using exchange_order = std::vector<std::vector<std::size_t>>;

struct schedule_search_result {
    std::uint64_t orders = 0;           ///< number of orders evaluated
    std::uint64_t distinct_graphs = 0;  ///< different step graphs among them
    std::uint64_t solved_graphs = 0;    ///< of these, different up to relabelling: what the model solved
    double best_s = 0, worst_s = 0, natural_s = 0, mean_s = 0;
    exchange_order best_order, worst_order;
    std::vector<std::uint64_t> histogram;  ///< orders by duration, equal bins from best_s to worst_s
};

/// \param bytes size of every message
/// \throws std::invalid_argument if the pattern names endpoints that the tree does not have
schedule_search_result search_schedules(const congestion_model& model, const exchange_pattern& pattern, double bytes,
                                        std::size_t histogram_bins = 50);

/// Duration of one order in seconds, step by step.
std::vector<double> step_durations(const congestion_model& model, const exchange_order& order, double bytes);

}  // namespace fabricvp::analytic
