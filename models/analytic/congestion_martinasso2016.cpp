// SPDX-License-Identifier: Apache-2.0
// The form as published: proportional uplinks, round-robin downlinks with tau, coupling and redistribution to a fixed
// point.
#include <cmath>
#include <limits>

#include "analytic/congestion_flow.h"

namespace fabricvp::analytic {

namespace {

/// Shares of a downstream port's ingress groups. The printed bounds are 1/n - tau for a group that crossed the root
/// complex and 1/n + tau for the others; capacity that a group leaves goes to its competitors, which is what the
/// paper's example does in its last column.
std::vector<double> downstream_shares(const std::vector<ingress_group>& groups, const std::vector<double>& demand,
                                      double tau) {
    const double n = static_cast<double>(groups.size());
    double crossing = 0;
    for (const auto& g : groups) crossing += g.crosses_root;
    std::vector<double> weight(groups.size(), 1.0 / n);
    if (crossing > 0 && crossing < n)
        for (std::size_t i = 0; i < groups.size(); ++i)
            weight[i] = groups[i].crosses_root ? std::max(1.0 / n - tau, 0.0) : 1.0 / n + tau;
    return water_fill(1.0, demand, weight);
}

}  // namespace

std::vector<double> congestion_model::martinasso2016(const std::vector<flow>& flows) const {
    const auto n = flows.size();
    const auto ports = used_ports(flows);
    std::vector<std::vector<double>> uplink_share(ports.size());  // behind each uplink if no flow is throttled later

    // One pass through the tree with given demands. `up` (if wanted) receives each flow's factor behind each uplink;
    // flow `bounded` (if any) takes no more of an uplink than that share.
    const auto propagate = [&](std::vector<double> rho, std::vector<std::vector<double>>* up, std::size_t bounded) {
        for (std::size_t k = 0; k < ports.size(); ++k) {
            const auto& p = ports[k];
            double sum = 0;
            for (auto f : p.members) sum += rho[f];
            if (sum > 1 + congestion_epsilon) {
                if (up && p.up) {
                    for (auto f : p.members) rho[f] /= sum;
                } else if (p.up) {
                    // In proportion too, but a message that wants less than its part leaves the rest to the others.
                    std::vector<double> flow_demand, part;
                    for (auto f : p.members) {
                        flow_demand.push_back(rho[f]);
                        part.push_back(uplink_share[k][f]);
                    }
                    const auto given = water_fill(1.0, flow_demand, part);
                    for (std::size_t i = 0; i < given.size(); ++i) rho[p.members[i]] = given[i];
                } else {
                    std::vector<double> demand;
                    for (const auto& g : p.groups) {
                        demand.push_back(0);
                        for (auto f : g.members) demand.back() += rho[f];
                    }
                    const auto share = downstream_shares(p.groups, demand, m_tau);
                    for (std::size_t g = 0; g < p.groups.size(); ++g) {
                        std::vector<double> flow_demand;
                        for (auto f : p.groups[g].members) flow_demand.push_back(rho[f]);
                        const auto part =
                            water_fill(share[g], flow_demand, std::vector<double>(flow_demand.size(), 1.0));
                        for (std::size_t i = 0; i < part.size(); ++i) rho[p.groups[g].members[i]] = part[i];
                    }
                }
            }
            if (!p.up) continue;
            if (up) (*up)[k] = rho;
            if (bounded < n && std::find(p.members.begin(), p.members.end(), bounded) != p.members.end())
                rho[bounded] = std::min(rho[bounded], uplink_share[k][bounded]);
        }
        return rho;
    };

    propagate(std::vector<double>(n, 1.0), &uplink_share, n);

    std::vector<double> cap(n, 1.0);
    for (int iteration = 0; iteration < 500; ++iteration) {
        // What the ports would offer to each communication if it alone were not held back by those before it in a FIFO.
        std::vector<double> offer(n);
        for (std::size_t f = 0; f < n; ++f) {
            auto demand = cap;
            demand[f] = 1.0;
            offer[f] = propagate(std::move(demand), nullptr, f)[f];
        }
        std::vector<double> next(n, 1.0);
        for (std::size_t k = 0; k < ports.size(); ++k) {
            const auto& p = ports[k];
            if (!p.up) continue;
            for (auto ahead : p.members) {
                const double pace = offer[ahead] / uplink_share[k][ahead];
                if (pace >= 1 - congestion_epsilon) continue;  // nothing behind this uplink holds it up
                for (auto held : p.members)
                    if (held != ahead) next[held] = std::min(next[held], pace * uplink_share[k][held]);
            }
        }
        double change = 0;
        const double step = iteration < 20 ? 1.0 : 0.5;  // damping ends the rare two-step oscillation
        for (std::size_t f = 0; f < n; ++f) {
            const double target = cap[f] + step * (next[f] - cap[f]);
            change = std::max(change, std::fabs(target - cap[f]));
            cap[f] = target;
        }
        if (change < 1e-10) break;
    }
    return propagate(cap, nullptr, n);
}

}  // namespace fabricvp::analytic
