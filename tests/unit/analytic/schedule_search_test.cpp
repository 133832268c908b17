// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <numeric>

#include "analytic/schedule_search.h"

using namespace fabricvp::analytic;

namespace {
constexpr double message = 300e6, bandwidth = 11.86e9;
}

TEST_CASE("all orders of the two halo exchanges are searched") {
    const auto form = GENERATE(congestion_form::martinasso2016, congestion_form::maxmin);
    const congestion_model model(cs_storm_socket(), 0.1735, bandwidth, form);
    const auto check = [&](const exchange_pattern& pattern, std::uint64_t orders) {
        const auto r = search_schedules(model, pattern, message);
        CHECK(r.orders == orders);
        CHECK(std::accumulate(r.histogram.begin(), r.histogram.end(), std::uint64_t{0}) == orders);
        CHECK(r.solved_graphs < r.distinct_graphs);
        CHECK(r.best_s < r.natural_s);
        CHECK(r.natural_s < r.worst_s);
        // The order that is reported takes the time that is reported, and is one of the pattern's.
        for (const auto& [order, seconds] : {std::pair(r.best_order, r.best_s), std::pair(r.worst_order, r.worst_s)}) {
            const auto steps = step_durations(model, order, message);
            CHECK(std::accumulate(steps.begin(), steps.end(), 0.0) == Approx(seconds));
            for (std::size_t s = 0; s < order.size(); ++s) {
                auto sent = order[s], wanted = pattern.neighbours[s];
                std::sort(sent.begin(), sent.end());
                std::sort(wanted.begin(), wanted.end());
                CHECK(sent == wanted);
            }
        }
        // Four messages must cross the root complex each way, at most one at a time at full rate: no order beats that.
        CHECK(r.best_s == Approx(4 * message / bandwidth));
    };
    check(exchange_pattern::grid_2d(), 20'736);
    check(exchange_pattern::cube_3d(), 1'679'616);
}

TEST_CASE("the search agrees with trying every order one by one") {
    // A ring of four endpoints on two boards: (2!)^4 orders, small enough to enumerate here without any cache.
    exchange_pattern ring;
    ring.neighbours = {{1, 3}, {2, 0}, {3, 1}, {0, 2}};
    const congestion_model model(cs_storm_socket(), 0.1735, bandwidth);
    double best = 1e9, worst = 0;
    for (unsigned flips = 0; flips < 16; ++flips) {
        exchange_order order = ring.neighbours;
        for (unsigned s = 0; s < 4; ++s)
            if (flips >> s & 1) std::swap(order[s][0], order[s][1]);
        const auto steps = step_durations(model, order, message);
        const double total = std::accumulate(steps.begin(), steps.end(), 0.0);
        best = std::min(best, total);
        worst = std::max(worst, total);
    }
    const auto r = search_schedules(model, ring, message);
    CHECK(r.orders == 16);
    CHECK(r.best_s == Approx(best));
    CHECK(r.worst_s == Approx(worst));
}
