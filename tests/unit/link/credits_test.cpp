// SPDX-License-Identifier: Apache-2.0
#include "link/credits.h"

#include <algorithm>
#include <deque>
#include <random>

#include <catch2/catch.hpp>

using namespace fabricvp;
using link::credit_account;

TEST_CASE("credits count from the time at which they are back") {
    credit_account a(4);
    REQUIRE(a.covers(4, 0));
    a.consume(4);
    CHECK_FALSE(a.covers(1, 0));
    CHECK(a.covered_at(1) == never);
    a.replenish(1, 10);
    a.replenish(1, 10);
    a.replenish(2, 20);
    CHECK(a.covered_at(2) == 10);
    CHECK(a.covered_at(3) == 20);
    CHECK_FALSE(a.covers(1, 9));
    CHECK(a.available(10) == 2);
    CHECK(a.covers(4, 20));
    CHECK(a.covered_at(4) == 0);
}

TEST_CASE("credits that are back before others that were returned earlier count then") {
    credit_account a(6);
    a.consume(6);
    a.replenish(3, 100);
    a.replenish(1, 40);
    a.replenish(2, 60);
    CHECK(a.covered_at(1) == 40);
    CHECK(a.covered_at(4) == 100);
    CHECK_FALSE(a.covers(1, 39));
    CHECK(a.covers(1, 40));
    CHECK_FALSE(a.covers(2, 50));
    CHECK(a.covered_at(2) == 60);  // not before now, where nothing can be scheduled any more
    CHECK(a.in_use(60) == 3);
    CHECK(a.available(100) == 6);
}

TEST_CASE("dropped credits are missing as soon as they come back") {
    credit_account a(8);
    a.consume(6);
    a.drop(5, 0);  // two at once, three of those in use
    CHECK(a.available(0) == 0);
    a.replenish(2, 5);
    a.replenish(4, 6);
    CHECK(a.available(5) == 0);
    CHECK(a.available(6) == 3);
    a.reset();
    CHECK(a.available(0) == 8);
    CHECK(a.covered_at(9) == never);
}

TEST_CASE("losses of credits that are in use add up") {
    credit_account a(40);
    a.consume(30);
    a.drop(16, 0);  // six of those in use
    a.drop(10, 0);  // sixteen
    a.replenish(30, 5);
    CHECK(a.available(5) == 14);
    a.reset();
    a.consume(40);
    a.drop(30, 0);
    a.drop(30, 0);  // no more than there are
    a.drop(~std::uint64_t{0}, 0);
    a.replenish(40, 5);
    CHECK(a.available(5) == 0);
}

TEST_CASE("withheld credits are there, and cover nothing until they are released") {
    credit_account a(8);
    a.consume(6);
    a.withhold();
    a.withhold();
    CHECK(a.withheld());
    CHECK_FALSE(a.covers(1, 0));
    a.replenish(6, 5);
    CHECK(a.covered_at(1) == never);
    CHECK_FALSE(a.covers(1, 5));
    CHECK(a.available(5) == 8);
    CHECK(a.in_use(5) == 0);
    a.drop(3, 5);
    CHECK(a.available(5) == 5);
    a.release();
    a.release();
    CHECK_FALSE(a.withheld());
    CHECK(a.covers(5, 5));
    CHECK_FALSE(a.covers(6, 5));
    a.withhold();
    a.reset();
    CHECK_FALSE(a.covers(1, 6));
    CHECK(a.available(6) == 8);
    a.release();
    CHECK(a.covers(8, 6));
}

// Hundreds are on their way back at a time, so the ring in which they wait wraps and grows between uses.
TEST_CASE("an account with many returns on their way agrees with one that looks at each") {
    std::mt19937_64 random(7);
    constexpr std::uint64_t initial = 4096;
    credit_account a(initial);
    struct returning {
        ticks when;
        std::uint64_t amount;
    };
    std::deque<returning> under_way;
    std::uint64_t available = initial, in_use = 0;
    ticks now = 0, last = 0;
    std::size_t most = 0;
    for (unsigned step = 0; step < 20000; ++step) {
        now += random() % 3;
        while (!under_way.empty() && under_way.front().when <= now) {
            available += under_way.front().amount;
            under_way.pop_front();
        }
        const auto amount = 1 + random() % 8;
        const bool covered = available >= amount;
        REQUIRE(a.covers(amount, now) == covered);
        if (!covered) {
            auto sum = available;
            const auto enough = std::find_if(under_way.begin(), under_way.end(),
                                             [&](const returning& r) { return (sum += r.amount) >= amount; });
            REQUIRE(a.covered_at(amount) == (enough == under_way.end() ? never : enough->when));
        } else {
            REQUIRE(a.covered_at(amount) == 0);
            a.consume(amount);
            available -= amount;
            in_use += amount;
        }
        if (in_use && random() % 4) {
            const auto freed = 1 + random() % std::min<std::uint64_t>(in_use, 4);
            last = std::max(last + random() % 3, now + 300);
            const auto when = random() % 8 ? last : now + 1 + random() % 300;  // some sooner than others before
            a.replenish(freed, when);
            const auto behind = std::upper_bound(under_way.begin(), under_way.end(), when,
                                                 [](ticks t, const returning& r) { return t < r.when; });
            under_way.insert(behind, {when, freed});
            in_use -= freed;
            most = std::max(most, under_way.size());
        }
    }
    CHECK(most > 64);
}
