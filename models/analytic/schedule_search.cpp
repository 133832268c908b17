// SPDX-License-Identifier: Apache-2.0
#include "analytic/schedule_search.h"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

#include "analytic/graph_families.h"

namespace fabricvp::analytic {

namespace {

double step_duration(const congestion_model& model, const communication_graph& graph, double bytes) {
    std::vector<communication> c;
    for (const auto& [s, d] : graph) c.push_back({s, d, bytes, 0.0});
    return c.empty() ? 0.0 : model.solve(c).end;
}

constexpr double max_orders = 1 << 26;  // a second or two

/// A sender's possible sequences. A sequence contributes one digit to the number of each step's graph.
struct sender_orders {
    std::vector<std::vector<std::size_t>> sequences;
};

}  // namespace

exchange_pattern exchange_pattern::grid_2d() {
    exchange_pattern p;
    p.neighbours.resize(8);
    for (std::size_t r = 0; r < 2; ++r)
        for (std::size_t c = 0; c < 4; ++c) {
            auto& n = p.neighbours[4 * r + c];
            if (c > 0) n.push_back(4 * r + c - 1);
            if (c < 3) n.push_back(4 * r + c + 1);
            n.push_back(4 * (1 - r) + c);
        }
    return p;
}

exchange_pattern exchange_pattern::cube_3d() {
    exchange_pattern p;
    p.neighbours.resize(8);
    for (std::size_t s = 0; s < 8; ++s) p.neighbours[s] = {s ^ 1, s ^ 2, s ^ 4};
    return p;
}

std::vector<double> step_durations(const congestion_model& model, const exchange_order& order, double bytes) {
    std::size_t steps = 0;
    for (const auto& s : order) steps = std::max(steps, s.size());
    std::vector<double> durations;
    for (std::size_t k = 0; k < steps; ++k) {
        communication_graph g;
        for (std::size_t s = 0; s < order.size(); ++s)
            if (k < order[s].size()) g.emplace_back(s, order[s][k]);
        durations.push_back(step_duration(model, g, bytes));
    }
    return durations;
}

schedule_search_result search_schedules(const congestion_model& model, const exchange_pattern& pattern, double bytes,
                                        std::size_t histogram_bins) {
    const auto senders = pattern.neighbours.size();
    if (senders == 0 || histogram_bins == 0) throw std::invalid_argument("the pattern is empty");
    double orders = 1;
    for (const auto& n : pattern.neighbours)
        for (std::size_t k = 2; k <= n.size(); ++k)
            if ((orders *= static_cast<double>(k)) > max_orders)
                throw std::invalid_argument("the pattern is too large to search exactly");
    std::size_t steps = 0;
    std::vector<sender_orders> choice(senders);
    for (std::size_t s = 0; s < senders; ++s) {
        auto sequence = pattern.neighbours[s];
        steps = std::max(steps, sequence.size());
        std::vector<std::size_t> index(sequence.size());
        for (std::size_t i = 0; i < index.size(); ++i) index[i] = i;
        do choice[s].sequences.push_back(index);
        while (std::next_permutation(index.begin(), index.end()));
    }

    // The graph of a step is numbered in mixed radix: digit of sender s is 0 (silent) or 1 + which neighbour.
    std::vector<std::uint64_t> radix(senders);
    std::uint64_t numbers = 1;
    for (std::size_t s = 0; s < senders; ++s) {
        radix[s] = numbers;
        numbers *= pattern.neighbours[s].size() + 1;
        if (numbers > (std::uint64_t{1} << 28))
            throw std::invalid_argument("the pattern is too large to search exactly");
    }
    const auto relabellings = model.tree().automorphisms();
    std::map<communication_graph, double> solved;
    std::vector<double> duration(numbers, -1.0);
    schedule_search_result result;
    const auto duration_of = [&](std::uint64_t number) {
        auto& d = duration[number];
        if (d >= 0) return d;
        communication_graph g;
        auto rest = number;
        for (std::size_t s = 0; s < senders; ++s) {
            const auto base = pattern.neighbours[s].size() + 1;
            if (const auto digit = rest % base) g.emplace_back(s, pattern.neighbours[s][digit - 1]);
            rest /= base;
        }
        const auto key = canonical_graph(g, relabellings);
        auto at = solved.find(key);
        if (at == solved.end()) at = solved.emplace(key, step_duration(model, key, bytes)).first;
        ++result.distinct_graphs;
        return d = at->second;
    };

    // Odometer over all senders' sequences. Step numbers change only by the digits of the senders that turned.
    std::vector<std::size_t> odometer(senders, 0);
    std::vector<std::uint64_t> number(steps, 0);
    const auto contribute = [&](std::size_t s, bool add) {
        const auto& sequence = choice[s].sequences[odometer[s]];
        for (std::size_t k = 0; k < sequence.size(); ++k)
            add ? number[k] += radix[s] * (sequence[k] + 1) : number[k] -= radix[s] * (sequence[k] + 1);
    };
    const auto order_now = [&] {
        exchange_order o(senders);
        for (std::size_t s = 0; s < senders; ++s)
            for (auto i : choice[s].sequences[odometer[s]]) o[s].push_back(pattern.neighbours[s][i]);
        return o;
    };
    for (std::size_t s = 0; s < senders; ++s) contribute(s, true);
    result.best_s = std::numeric_limits<double>::infinity();
    std::vector<double> totals;
    double sum = 0;
    for (bool more = true; more;) {
        double total = 0;
        for (std::size_t k = 0; k < steps; ++k) total += duration_of(number[k]);
        if (result.orders++ == 0) result.natural_s = total;
        if (total < result.best_s) {
            result.best_s = total;
            result.best_order = order_now();
        }
        if (total > result.worst_s) {
            result.worst_s = total;
            result.worst_order = order_now();
        }
        sum += total;
        totals.push_back(total);
        more = false;
        for (std::size_t s = 0; s < senders && !more; ++s) {
            contribute(s, false);
            more = ++odometer[s] < choice[s].sequences.size();
            if (!more) odometer[s] = 0;
            contribute(s, true);
        }
    }
    result.mean_s = sum / static_cast<double>(result.orders);
    result.solved_graphs = solved.size();
    result.histogram.assign(histogram_bins, 0);
    const double width = (result.worst_s - result.best_s) / static_cast<double>(histogram_bins);
    for (double t : totals) {
        const auto bin = width > 0 ? static_cast<std::size_t>((t - result.best_s) / width) : 0;
        ++result.histogram[std::min(bin, histogram_bins - 1)];
    }
    return result;
}

}  // namespace fabricvp::analytic
