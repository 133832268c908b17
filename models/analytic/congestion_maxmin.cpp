// SPDX-License-Identifier: Apache-2.0
// The form of a switch with shared ingress FIFOs and round robin per TLP, solved bottleneck by bottleneck.
//
// In each round every port is filled with what still may grow: its ingress groups share max-min, a group's members in
// the ratio in which they come out of the FIFO before. The communication with the smallest result cannot be helped by
// any later decision, since all others get at least as much; so it is settled, and whoever shares a FIFO with it before
// its bottleneck is bound to its pace. Each round settles at least one. Rarely a group grows at a port after a larger
// group's members were settled there (its own hold-up elsewhere was released); then those members are opened again.
#include <limits>

#include "analytic/congestion_flow.h"

namespace fabricvp::analytic {

std::vector<double> congestion_model::maxmin(const std::vector<flow>& flows) const {
    const auto n = flows.size();
    const double crossing_weight = (0.5 - m_tau) / (0.5 + m_tau);  // of its TLPs' size, relative to direct ones
    const auto ports = used_ports(flows);
    std::vector<std::vector<std::size_t>> ports_of(n);  // in path order, since the ports are
    for (std::size_t k = 0; k < ports.size(); ++k)
        for (auto f : ports[k].members) ports_of[f].push_back(k);

    std::vector<double> cap(n, 1.0), settled(n, -1.0);
    std::vector<std::vector<double>> share(ports.size(), std::vector<double>(n, 0.0));
    std::size_t reopenings = 2 * n;
    for (std::size_t open = n; open > 0;) {
        bool reopened = false;
        std::vector<double> level(n);
        std::vector<std::size_t> bottleneck(n, 0);
        for (std::size_t f = 0; f < n; ++f) level[f] = settled[f] >= 0 ? settled[f] : cap[f];
        for (std::size_t k = 0; k < ports.size(); ++k) {
            const auto& p = ports[k];
            std::vector<double> demand, weight;
            bool mixed = false, direct = false;
            for (const auto& g : p.groups) (g.crosses_root ? mixed : direct) = true;
            for (const auto& g : p.groups) {
                demand.push_back(0);
                for (auto f : g.members) demand.back() += level[f];
                weight.push_back(g.crosses_root && mixed && direct ? crossing_weight : 1.0);
            }
            const auto part = water_fill(1.0, demand, weight);
            for (std::size_t g = 0; g < p.groups.size(); ++g) {
                const auto& members = p.groups[g].members;
                // Settled members keep their rate; the others share the rest in their FIFO's ratio.
                std::vector<double> wish, mix;
                double rest = part[g];
                for (auto f : members) {
                    if (settled[f] >= 0) rest -= settled[f];
                    wish.push_back(settled[f] >= 0 ? 0.0 : level[f]);
                    mix.push_back(std::max(level[f], congestion_epsilon));
                }
                if (rest < -1e-9 && reopenings > 0) {
                    --reopenings;
                    reopened = true;
                    for (auto f : members)
                        if (settled[f] >= 0) {
                            settled[f] = -1.0;
                            ++open;
                        }
                    break;
                }
                const auto grown = water_fill(std::max(rest, 0.0), wish, mix);
                for (std::size_t i = 0; i < members.size(); ++i) {
                    const auto f = members[i];
                    if (settled[f] < 0 && grown[i] < level[f] - congestion_epsilon) {
                        level[f] = grown[i];
                        bottleneck[f] = k;
                    }
                    share[k][f] = level[f];
                }
            }
            if (reopened) break;
        }
        if (reopened) continue;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t f = 0; f < n; ++f)
            if (settled[f] < 0) least = std::min(least, level[f]);
        std::vector<std::size_t> fresh;
        for (std::size_t f = 0; f < n; ++f)
            if (settled[f] < 0 && level[f] <= least + 1e-9) fresh.push_back(f);
        for (auto f : fresh) {
            settled[f] = level[f];
            --open;
        }
        for (auto f : fresh)
            for (auto k : ports_of[f]) {
                if (k >= bottleneck[f]) break;
                for (const auto& g : ports[k].groups)
                    for (auto behind : g.members)
                        if (settled[behind] < 0 && share[k][f] > 0)
                            cap[behind] = std::min(cap[behind], settled[f] * share[k][behind] / share[k][f]);
            }
    }
    return settled;
}

}  // namespace fabricvp::analytic
