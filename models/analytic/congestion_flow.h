// SPDX-License-Identifier: Apache-2.0
// What the two closed forms share: communications with their routes, and sharing of a port.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "analytic/congestion_model.h"

namespace fabricvp::analytic {

struct congestion_model::flow {
    const pcie_tree::path* route = nullptr;
    std::size_t id = 0;  ///< distinguishes flows that leave the same endpoint
};

inline constexpr double congestion_epsilon = 1e-12;

/// Max-min sharing of `capacity`: no flow gets more than its demand, and what one leaves goes to the others by weight.
inline std::vector<double> water_fill(double capacity, const std::vector<double>& demand,
                                      const std::vector<double>& weight) {
    std::vector<double> share(demand.size(), 0.0);
    std::vector<std::size_t> unsatisfied(demand.size());
    for (std::size_t i = 0; i < unsatisfied.size(); ++i) unsatisfied[i] = i;
    while (!unsatisfied.empty()) {
        double weights = 0;
        for (auto i : unsatisfied) weights += weight[i];
        if (weights <= 0) break;
        const auto full = std::partition(unsatisfied.begin(), unsatisfied.end(), [&](std::size_t i) {
            return demand[i] > capacity * weight[i] / weights + congestion_epsilon;
        });
        if (full == unsatisfied.end()) {  // all want more than their part
            for (auto i : unsatisfied) share[i] = capacity * weight[i] / weights;
            break;
        }
        double allocated = 0;
        for (auto i = full; i != unsatisfied.end(); ++i) {
            share[*i] = demand[*i];
            allocated += demand[*i];
        }
        capacity = std::max(0.0, capacity - allocated);
        unsatisfied.erase(full, unsatisfied.end());
    }
    return share;
}

/// One ingress port's traffic at an egress port.
struct ingress_group {
    std::size_t from;                  ///< direction that feeds it, or a number of its own for a source
    std::vector<std::size_t> members;  ///< indices of flows
    bool crosses_root = false;         ///< came down through the root complex
};

/// An egress port that communications use.
struct congestion_model::used_port {
    bool up;
    std::vector<ingress_group> groups;
    std::vector<std::size_t> members;  ///< of all groups
};

}  // namespace fabricvp::analytic
