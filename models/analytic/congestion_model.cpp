// SPDX-License-Identifier: Apache-2.0
#include "analytic/congestion_model.h"

#include <limits>
#include <map>
#include <stdexcept>
#include <string>

#include "analytic/congestion_flow.h"

namespace fabricvp::analytic {

congestion_model::congestion_model(pcie_tree tree, double tau, double bandwidth, congestion_form form,
                                   double crossing_bandwidth)
    : m_tree(std::move(tree)),
      m_tau(tau),
      m_bandwidth(bandwidth),
      m_form(form),
      m_crossing_rate(crossing_bandwidth == 0 ? 1.0 : crossing_bandwidth / bandwidth),
      m_order(m_tree.topological_order()) {
    if (!(tau >= 0 && tau < 0.5)) throw std::invalid_argument("tau must be at least 0 and below 0.5");
    if (!(bandwidth > 0)) throw std::invalid_argument("the bandwidth must be above 0");
    if (!(m_crossing_rate > 0 && m_crossing_rate <= 1))
        throw std::invalid_argument("the bandwidth across the root complex must be above 0 and at most the other one");
    if (m_crossing_rate != 1 && form == congestion_form::martinasso2016)
        throw std::invalid_argument("the published form knows one bandwidth only");
    const auto n = m_tree.endpoints();
    m_routes.resize(n);
    for (std::size_t s = 0; s < n; ++s) {
        m_routes[s].resize(n);
        for (std::size_t d = 0; d < n; ++d)
            if (s != d) m_routes[s][d] = m_tree.route(s, d);
    }
}

std::vector<congestion_model::used_port> congestion_model::used_ports(const std::vector<flow>& flows) const {
    std::vector<used_port> ports;
    for (auto d : m_order) {
        used_port p{pcie_tree::is_up(d), {}, {}};
        for (std::size_t f = 0; f < flows.size(); ++f) {
            const auto& way = flows[f].route->directions;
            const auto at = std::find(way.begin(), way.end(), d);
            if (at == way.end()) continue;
            const auto from = at == way.begin() ? m_tree.directions() + f : *(at - 1);
            auto g =
                std::find_if(p.groups.begin(), p.groups.end(), [&](const ingress_group& i) { return i.from == from; });
            if (g == p.groups.end()) g = p.groups.insert(p.groups.end(), {from, {}, false});
            g->members.push_back(f);
            g->crosses_root = g->crosses_root || (!p.up && flows[f].route->crosses_root);
            p.members.push_back(f);
        }
        if (!p.members.empty()) ports.push_back(std::move(p));
    }
    return ports;
}

std::vector<double> congestion_model::factors(const std::vector<communication>& active) const {
    std::vector<flow> flows;
    flows.reserve(active.size());
    for (const auto& c : active) {
        if (c.source >= m_tree.endpoints() || c.destination >= m_tree.endpoints() || c.source == c.destination)
            throw std::invalid_argument("no communication from endpoint " + std::to_string(c.source) + " to " +
                                        std::to_string(c.destination));
        flow f;
        f.route = &m_routes[c.source][c.destination];
        f.id = flows.size();
        flows.push_back(f);
    }
    return m_form == congestion_form::martinasso2016 ? martinasso2016(flows) : maxmin(flows);
}

double congestion_model::phase::factor(std::size_t communication) const {
    const auto at = std::lower_bound(factors.begin(), factors.end(), std::make_pair(communication, 0.0));
    return at != factors.end() && at->first == communication ? at->second : 0.0;
}

congestion_model::result congestion_model::solve(const std::vector<communication>& all) const {
    result r;
    r.finish.assign(all.size(), 0.0);
    std::vector<double> left(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!(all[i].bytes > 0)) throw std::invalid_argument("a message must have more than 0 bytes");
        if (!(all[i].start >= 0)) throw std::invalid_argument("a message starts at 0 s or later");
        left[i] = all[i].bytes;
    }
    double now = 0;
    for (std::size_t done = 0; done < all.size();) {
        std::vector<std::size_t> running;
        std::vector<communication> active;
        double next_start = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (left[i] <= 0) continue;
            if (all[i].start <= now) {
                running.push_back(i);
                active.push_back(all[i]);
            } else {
                next_start = std::min(next_start, all[i].start);
            }
        }
        if (running.empty()) {
            now = next_start;
            continue;
        }
        const auto rho = factors(active);
        double span = next_start - now;
        for (std::size_t k = 0; k < running.size(); ++k)
            if (rho[k] > 0) span = std::min(span, left[running[k]] / (rho[k] * m_bandwidth));
        if (span == std::numeric_limits<double>::infinity())
            throw std::invalid_argument("tau leaves a communication no bandwidth at all");
        phase p;
        now += span;
        for (std::size_t k = 0; k < running.size(); ++k) {
            const auto i = running[k];
            p.factors.emplace_back(i, rho[k]);
            left[i] -= rho[k] * m_bandwidth * span;
            if (left[i] <= all[i].bytes * 1e-12) {  // rounding, not data
                left[i] = 0;
                r.finish[i] = now;
                ++done;
            }
        }
        p.end = now;
        r.phases.push_back(std::move(p));
    }
    r.end = now;
    return r;
}

congestion_model::result congestion_model::solve_in_steps(const std::vector<communication>& all) const {
    std::map<std::size_t, std::size_t> sent;  // by source
    std::vector<std::vector<std::size_t>> steps;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto step = sent[all[i].source]++;
        if (step == steps.size()) steps.emplace_back();
        steps[step].push_back(i);
    }
    result r;
    r.finish.assign(all.size(), 0.0);
    for (const auto& step : steps) {
        std::vector<communication> together;
        for (auto i : step) {
            together.push_back(all[i]);
            together.back().start = 0;
        }
        const auto part = solve(together);
        for (const auto& p : part.phases) {
            r.phases.push_back({r.end + p.end, p.factors});
            for (auto& f : r.phases.back().factors) f.first = step[f.first];
        }
        for (std::size_t k = 0; k < step.size(); ++k) r.finish[step[k]] = r.end + part.finish[k];
        r.end += part.end;
    }
    return r;
}

}  // namespace fabricvp::analytic
