// SPDX-License-Identifier: Apache-2.0
#include "base/short_ring.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <random>

#include <catch2/catch.hpp>

using fabricvp::short_ring;

TEST_CASE("a short ring keeps the order of a queue that comes to its end and grows beyond what lies inside of it") {
    short_ring<std::shared_ptr<unsigned>, 4> ring;
    std::deque<std::shared_ptr<unsigned>> expected;
    std::mt19937 random(1);
    unsigned longest = 0, emptied = 0;
    for (unsigned step = 0; step < 40'000; ++step) {
        // Grows and shrinks by turns, so that it is empty, full inside and far beyond.
        if (random() % 100 < (step / 1'000 % 2 ? 40u : 60u)) {
            expected.push_back(std::make_shared<unsigned>(step));
            ring.push_back(std::shared_ptr<unsigned>(expected.back()));
        } else if (!expected.empty()) {
            REQUIRE(ring.take_front() == expected.front());
            REQUIRE(expected.front().use_count() == 1);  // the ring keeps nothing of what was taken
            expected.pop_front();
            emptied += expected.empty();
        }
        longest = std::max(longest, static_cast<unsigned>(expected.size()));
        REQUIRE(ring.size() == expected.size());
        REQUIRE(ring.empty() == expected.empty());
        if (expected.empty()) continue;
        REQUIRE(ring.front() == expected.front());
        REQUIRE(ring.back() == expected.back());
        const auto some = random() % expected.size();
        REQUIRE(ring[some] == expected[some]);
    }
    CHECK(longest > 64);
    CHECK(emptied > 10);
    for (unsigned n = 0; n < 10; ++n) {
        expected.push_back(std::make_shared<unsigned>(n));
        ring.push_back(std::shared_ptr<unsigned>(expected.back()));
    }
    ring.clear();
    CHECK(ring.empty());
    for (const auto& each : expected) CHECK(each.use_count() == 1);
}
