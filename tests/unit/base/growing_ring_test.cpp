// SPDX-License-Identifier: Apache-2.0
#include "base/growing_ring.h"

#include <deque>
#include <memory>
#include <random>

#include <catch2/catch.hpp>

using fabricvp::growing_ring;

TEST_CASE("a growing ring keeps the order of a queue through growth and wrap-around") {
    growing_ring<std::unique_ptr<unsigned>> ring;
    std::deque<unsigned> expected;
    std::mt19937 random(1);
    unsigned next = 0;
    for (unsigned step = 0; step < 20'000; ++step) {
        // Grows in the first half, shrinks in the second one.
        if (random() % 100 < (step < 10'000 ? 55u : 45u)) {
            ring.push_back(std::make_unique<unsigned>(next));
            expected.push_back(next++);
        } else if (!expected.empty()) {
            REQUIRE(*ring.front() == expected.front());
            if (step % 2)
                ring.pop_front();
            else
                REQUIRE(*ring.take_front() == expected.front());
            expected.pop_front();
        }
        REQUIRE(ring.size() == expected.size());
        REQUIRE(ring.empty() == expected.empty());
        if (!expected.empty()) REQUIRE(*ring.back() == expected.back());
    }
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(*ring[i] == expected[i]);
    const auto length = ring.size();
    for (unsigned n = 0; n < 600; ++n) ring.push_front(std::make_unique<unsigned>(n));
    CHECK(ring.size() == length + 600);
    CHECK(*ring.front() == 599);
    CHECK(*ring[599] == 0);
    if (length) CHECK(*ring[600] == expected.front());
    ring.clear();
    CHECK(ring.empty());
}

TEST_CASE("an item of a growing ring can be pushed again when the ring is full") {
    growing_ring<std::shared_ptr<int>> ring;
    const auto item = std::make_shared<int>(7);
    for (unsigned n = 0; n < 16; ++n) ring.push_back(item);
    ring.push_back(ring.front());
    CHECK(ring.size() == 17);
    for (const auto& each : ring) CHECK(each == item);
    CHECK(item.use_count() == 18);
    ring.take_front();
    CHECK(item.use_count() == 17);
}
