// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <random>
#include <stdexcept>

#include "base/clock_domain.h"

using namespace fabricvp;

TEST_CASE("cycle_at() is the exact inverse of span()") {
    std::mt19937_64 random(11);
    for (const std::uint64_t hertz : {1ull, 3ull, 32'768ull, 3'686'400ull, 333'333'333ull, 1'000'000'000ull,
                                      1'700'000'000ull, 2'999'999'999ull, 1'000'000'000'000ull}) {
        const clock_domain clock{frequency{hertz}};
        std::uint64_t wrong = 0;
        for (int i = 0; i < 2000; ++i) {
            // Up to ten simulated days, with small numbers too.
            const ticks t = (random() % 864'000'000'000'000'000) >> random() % 60;
            const std::uint64_t n = clock.cycle_at(t);
            wrong += clock.span(n) > t || clock.span(n + 1) <= t;
            const ticks edge = clock.edge_at_or_after(t);
            wrong += edge < t || clock.span(clock.cycle_at(edge)) != edge || (edge > t && clock.span(n + 1) != edge);
        }
        INFO(hertz << " Hz");
        CHECK(wrong == 0);
        CHECK(clock.cycle_at(0) == 0);
        CHECK(clock.rate().hertz == hertz);
    }
}

TEST_CASE("edges do not drift where the period is not a whole number of picoseconds") {
    const clock_domain clock{frequency{3'000'000'000}};
    CHECK(clock.span(1) == 333);
    CHECK(clock.span(2) == 666);
    CHECK(clock.span(3) == 1000);
    CHECK(clock.span(3'000'000'000) == ticks_per_second);
    CHECK(clock.edge_at_or_after(334) == 666);
    CHECK(clock.edge_at_or_after(666) == 666);
}

TEST_CASE("a clock needs a frequency") {
    CHECK_THROWS_AS(clock_domain(frequency{0}), std::invalid_argument);
    CHECK_THROWS_AS(clock_domain(frequency{2'000'000'000'000}), std::invalid_argument);
}
