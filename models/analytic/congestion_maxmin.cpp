// SPDX-License-Identifier: Apache-2.0
// The form of a switch with shared ingress FIFOs and round robin per TLP, solved bottleneck by bottleneck.
//
// In each round all communications run through the tree from their sources. At a port the ingress groups share max-min.
// A group that gets less than it brings stands in its FIFO, which slows the port before, whose ingress groups share
// max-min what is left of it, and so on back to the sources. The communication with the smallest result cannot be
// helped by any later decision, so it is settled, and from then on it holds the ports before its bottleneck: what it
// passes there is what it has got beyond, and the round robin gives no other group there more turns than its. Each
// round settles at least one. Rarely one that is settled loses to others that were released elsewhere; it is then
// opened again.
//
// Below the root complex a communication that crossed it has more and smaller TLPs: it costs more of a link, and takes
// more turns of the round robin for the same bytes. An ingress group's weight is the mean of what its TLPs cost.
#include <limits>

#include "analytic/congestion_flow.h"

namespace fabricvp::analytic {

namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

}  // namespace

class congestion_model::maxmin_solver {
public:
    maxmin_solver(const std::vector<flow>& flows, std::vector<used_port> ports, double crossing_rate,
                  double crossing_tlps)
        : m_ports(std::move(ports)),
          m_cost_below(flows.size(), 1.0),
          m_tlps_below(flows.size(), 1.0),
          m_before(flows.size()),
          m_throughput(m_ports.size(), std::vector<double>(flows.size())),
          m_settled(flows.size(), -1.0),
          m_settled_at(flows.size(), 0) {
        for (std::size_t f = 0; f < flows.size(); ++f) {
            m_before[f].assign(m_ports.size(), none);
            if (!flows[f].route->crosses_root) continue;
            m_cost_below[f] = 1 / crossing_rate;
            m_tlps_below[f] = crossing_tlps;
        }
        std::vector<std::size_t> last(flows.size(), none);
        for (std::size_t k = 0; k < m_ports.size(); ++k)  // in path order
            for (auto f : m_ports[k].members) {
                m_before[f][k] = last[f];
                last[f] = k;
            }
    }

    std::vector<double> solve() {
        const auto n = m_settled.size();
        std::size_t reopenings = 2 * n;
        for (bool open = true; open;) {
            m_level.assign(n, 1.0);
            m_bottleneck.assign(n, 0);
            for (std::size_t k = 0; k < m_ports.size(); ++k) share_port(k);
            open = false;
            double min_level = std::numeric_limits<double>::infinity();
            for (std::size_t f = 0; f < n; ++f) {
                if (m_settled[f] >= 0 && m_level[f] < m_settled[f] - 1e-9 && reopenings > 0) {
                    --reopenings;
                    m_settled[f] = -1.0;
                }
                if (m_settled[f] < 0) min_level = std::min(min_level, m_level[f]);
            }
            for (std::size_t f = 0; f < n; ++f)
                if (m_settled[f] < 0 && m_level[f] <= min_level + 1e-9) {
                    m_settled[f] = m_level[f];
                    m_settled_at[f] = m_bottleneck[f];
                    open = true;
                }
        }
        return m_level;  // of a pass in which all are settled
    }

private:
    using flows_t = std::vector<std::size_t>;

    double cost(std::size_t f, std::size_t k) const { return m_ports[k].up ? 1.0 : m_cost_below[f]; }

    /// What flows take of port `k`.
    double load(const flows_t& flows, std::size_t k) const {
        double sum = 0;
        for (auto f : flows) sum += m_level[f] * cost(f, k);
        return sum;
    }
    /// What a turn of flows at port `at` takes of port `k`.
    double grant_cost(const flows_t& flows, std::size_t at, std::size_t k) const {
        double allocated = 0, tlps = 0;
        for (auto f : flows) {
            const auto some = std::max(m_level[f], congestion_epsilon);
            allocated += some * cost(f, k);
            tlps += some * (m_ports[at].up ? 1.0 : m_tlps_below[f]);
        }
        return allocated / tlps;
    }

    /// Leaves flows that come to port `at` through one FIFO only `room` of port `k`.
    void cut(const flows_t& flows, std::size_t at, std::size_t k, double capacity) {
        const double now = load(flows, k);
        if (now <= capacity + congestion_epsilon) return;
        const auto before = m_before[flows.front()][at];
        if (flows.size() == 1 || before == none) {
            for (auto f : flows) {
                m_level[f] *= capacity / now;
                m_bottleneck[f] = k;
            }
            return;
        }
        std::vector<flows_t> groups;
        std::vector<double> demand, weight;
        const auto& passed = m_throughput[before];
        for (const auto& g : m_ports[before].groups) {
            flows_t some;
            double own_throughput = 0, all = 0;  // others of the group take turns too, wherever they go
            for (auto f : g.members) {
                all += passed[f];
                if (std::find(flows.begin(), flows.end(), f) == flows.end()) continue;
                own_throughput += passed[f];
                some.push_back(f);
            }
            if (some.empty()) continue;
            demand.push_back(load(some, k));
            weight.push_back(grant_cost(some, before, k) * std::max(own_throughput, congestion_epsilon) /
                             std::max(all, congestion_epsilon));
            groups.push_back(std::move(some));
        }
        const auto part = water_fill(capacity, demand, weight);
        for (std::size_t g = 0; g < groups.size(); ++g) cut(groups[g], before, k, part[g]);
    }

    /// The room at port `k` with which `holder` passes what it has settled for; others of its FIFO pass what fits.
    double capacity_for(std::size_t holder, const flows_t& flows, std::size_t k) {
        double high = load(flows, k), low = 0;
        if (m_level[holder] <= m_settled[holder] + congestion_epsilon) return high;
        if (flows.size() == 1) return m_settled[holder] * cost(holder, k);
        const auto level = m_level;
        const auto bottleneck = m_bottleneck;
        for (int i = 0; i < 48; ++i) {
            const double middle = (low + high) / 2;
            cut(flows, k, k, middle);
            (m_level[holder] > m_settled[holder] ? high : low) = middle;
            m_level = level;
        }
        m_bottleneck = bottleneck;
        return high;
    }

    void share_port(std::size_t k) {
        const auto& groups = m_ports[k].groups;
        std::vector<double> demand, weight;
        for (const auto& g : groups) {
            demand.push_back(load(g.members, k));
            weight.push_back(grant_cost(g.members, k, k));
        }
        double max_grants = std::numeric_limits<double>::infinity();  // that any group gets, if a group holds this port
        for (std::size_t g = 0; g < groups.size(); ++g)
            for (auto f : groups[g].members)
                if (m_settled[f] >= 0 && k < m_settled_at[f])
                    max_grants = std::min(max_grants, capacity_for(f, groups[g].members, k) / weight[g]);
        const auto part = water_fill(1.0, demand, weight);
        for (std::size_t g = 0; g < groups.size(); ++g)
            cut(groups[g].members, k, k, std::min(part[g], max_grants * weight[g]));
        for (auto f : m_ports[k].members) m_throughput[k][f] = m_level[f];
    }

    const std::vector<used_port> m_ports;
    std::vector<double> m_cost_below, m_tlps_below;  // of a crossing flow below the root, beside a direct one
    std::vector<std::vector<std::size_t>> m_before;  // [flow][port] the port before on its path
    std::vector<std::vector<double>> m_throughput;   // [port][flow] in the present round
    std::vector<double> m_settled;                   // negative: open
    std::vector<std::size_t> m_settled_at;           // port; a settled flow holds those before
    std::vector<double> m_level;                     // in the present round
    std::vector<std::size_t> m_bottleneck;
};

std::vector<double> congestion_model::maxmin(const std::vector<flow>& flows) const {
    return maxmin_solver(flows, used_ports(flows), m_crossing_rate, (0.5 + m_tau) / (0.5 - m_tau)).solve();
}

}  // namespace fabricvp::analytic
