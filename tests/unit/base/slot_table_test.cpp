// SPDX-License-Identifier: Apache-2.0
#include "base/slot_table.h"

#include <map>
#include <memory>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

using fabricvp::slot_table;

TEST_CASE("a slot table uses the slot first that was freed last") {
    slot_table<char> table;
    CHECK(table.insert('a') == 0);
    CHECK(table.insert('b') == 1);
    CHECK(table.insert('c') == 2);
    CHECK(table.remove(0) == 'a');
    CHECK(table.remove(1) == 'b');
    CHECK(table.size() == 1);
    CHECK_FALSE(table.contains(1));
    CHECK(table.insert('d') == 1);
    CHECK(table.insert('e') == 0);
    CHECK(table.insert('f') == 3);
    CHECK(table[1] == 'd');
    CHECK_FALSE(table.contains(4));
    CHECK_FALSE(table.contains(~std::uint64_t{0}));
    table.clear();
    CHECK(table.empty());
    CHECK_FALSE(table.contains(0));
    CHECK(table.insert('g') == 0);
}

TEST_CASE("items of a slot table stay under their numbers until they are removed") {
    slot_table<std::shared_ptr<unsigned>> table;
    std::map<std::uint32_t, std::weak_ptr<unsigned>> expected;
    std::mt19937 random(1);
    for (unsigned step = 0; step < 10'000; ++step) {
        if (expected.empty() || random() % 100 < 52) {
            auto item = std::make_shared<unsigned>(step);
            const std::weak_ptr<unsigned> seen = item;
            REQUIRE(expected.emplace(table.insert(std::move(item)), seen).second);
        } else {
            const auto at = std::next(expected.begin(), static_cast<std::ptrdiff_t>(random() % expected.size()));
            REQUIRE(table.remove(at->first) == at->second.lock());
            REQUIRE(at->second.expired());
            REQUIRE_FALSE(table.contains(at->first));
            expected.erase(at);
        }
        REQUIRE(table.size() == expected.size());
    }
    auto at = expected.begin();
    table.for_each([&](const auto& item) { CHECK(item == (at++)->second.lock()); });
    CHECK(at == expected.end());
}
