// SPDX-License-Identifier: Apache-2.0
// Context memory beside a table of single pages; and runs of pages so long that no table could hold them.
#include <map>
#include <random>

#include <catch2/catch.hpp>

#include "hca/memory/icm.h"

using namespace fabricvp;
using fabricvp::hca::icm;

TEST_CASE("pages of context memory") {
    calendar timeline;
    icm contexts("contexts");
    std::map<std::uint64_t, std::uint64_t> expected;
    std::mt19937_64 random(5);
    for (unsigned round = 0; round < 3000; ++round) {
        const auto first = random() % 200, pages = 1 + random() % (round % 2 ? 8 : 60),
                   bus = (random() % 1000) * icm::page;
        if (random() % 3) {
            contexts.map(first * icm::page, bus, pages);
            for (std::uint64_t i = 0; i < pages; ++i) expected[first + i] = bus + i * icm::page;
        } else {
            contexts.unmap(first * icm::page, pages);
            for (std::uint64_t i = 0; i < pages; ++i) expected.erase(first + i);
        }
        REQUIRE(contexts.pages() == expected.size());
        for (std::uint64_t n = 0; n < 270; ++n) {
            const auto found = expected.find(n);
            const auto offset = random() % icm::page;
            const auto seen = contexts.bus_address(n * icm::page + offset);
            REQUIRE(seen.has_value() == (found != expected.end()));
            if (seen) REQUIRE(*seen == found->second + offset);
        }
    }
    contexts.reset();
    CHECK(contexts.pages() == 0);
    constexpr std::uint64_t many = std::uint64_t{1} << 28;
    contexts.map(0, 0, many);
    contexts.unmap(many / 2 * icm::page, 1);
    CHECK(contexts.pages() == many - 1);
    CHECK(contexts.bus_address((many - 1) * icm::page + 7) == (many - 1) * icm::page + 7);
    CHECK_FALSE(contexts.bus_address(many / 2 * icm::page));

    // Single pages cannot fill the simulator's memory.
    contexts.reset();
    std::uint64_t runs = 0;
    for (; contexts.has_room(1); ++runs) contexts.map(2 * runs * icm::page, 0, 1);
    CHECK(runs == icm::max_runs - 1);
    contexts.map(2 * runs * icm::page, 0, 5);
    CHECK_FALSE(contexts.unmap((2 * runs + 2) * icm::page, 1));  // makes two of one
    CHECK(contexts.pages() == runs + 5);
    CHECK(contexts.unmap((2 * runs + 2) * icm::page, 3));
    CHECK(contexts.unmap(0, 1));
    CHECK(contexts.pages() == runs + 1);
    CHECK_FALSE(contexts.has_room(2));
    CHECK(contexts.has_room(0));
}
