// SPDX-License-Identifier: Apache-2.0
// Tags of an L2 bank against lists of lines in the order of their use.
#include <algorithm>
#include <catch2/catch.hpp>
#include <list>
#include <random>
#include <utility>
#include <vector>

#include "gpu/memory/l2_tags.h"

using namespace fabricvp;
using namespace fabricvp::gpu;

namespace {

struct line {
    std::uint64_t index;
    bool locked, dirty;
};

/// A set, the line used last first.
using set = std::list<line>;

auto find(set& s, std::uint64_t index) {
    return std::find_if(s.begin(), s.end(), [index](const line& l) { return l.index == index; });
}

}  // namespace

TEST_CASE("the least recently used line that is not locked gives way", "[gpu]") {
    const auto ways = static_cast<std::uint64_t>(GENERATE(1, 2, 7, 8, 12, 16, 17, 32, 64));
    const auto sets = static_cast<std::uint64_t>(GENERATE(1, 3, 4));
    const std::uint64_t may_be_locked = ways / 2;
    l2_tags tags(sets, ways, may_be_locked);
    std::vector<set> expected(sets);
    std::mt19937_64 random(ways * 8 + sets);
    unsigned evicted = 0;
    for (unsigned i = 0; i < 20'000; ++i) {
        const std::uint64_t index = random() % (3 * sets * ways) << (random() % 2 ? 0 : 40);
        set& in = expected[index % sets];
        const auto known = find(in, index);
        const auto action = random() % 8;
        REQUIRE(tags.holds(index) == (known != in.end()));
        if (action == 0) {
            tags.drop(index);
            if (known != in.end()) in.erase(known);
            continue;
        }
        if (known == in.end()) {
            const std::size_t victim = tags.victim(index);
            REQUIRE(tags.empty(victim) == (in.size() < ways));
            if (!tags.empty(victim)) {
                const auto oldest = std::find_if(in.rbegin(), in.rend(), [](const line& l) { return !l.locked; });
                REQUIRE(tags.index_at(victim) == oldest->index);
                REQUIRE(tags.dirty(victim) == oldest->dirty);
                in.erase(std::next(oldest).base());
                ++evicted;
            }
            const bool dirty = random() % 2;
            tags.fill(victim, index, i, dirty);
            in.push_front({index, false, dirty});
            continue;
        }
        const std::size_t at = tags.find(index);
        REQUIRE(at != l2_tags::absent);
        REQUIRE(tags.index_at(at) == index);
        in.splice(in.begin(), in, known);
        line& l = in.front();
        if (action == 1) {
            const auto locked = std::count_if(in.begin(), in.end(), [](const line& each) { return each.locked; });
            REQUIRE(tags.lock(at) == (l.locked || static_cast<std::uint64_t>(locked) < may_be_locked));
            l.locked = tags.locked(at);
        } else if (action == 2) {
            tags.unlock(at);
            l.locked = false;
        } else if (action == 3) {
            tags.make_dirty(at);
            l.dirty = true;
        }
        REQUIRE(tags.locked(at) == l.locked);
        REQUIRE(tags.dirty(at) == l.dirty);
    }
    REQUIRE(evicted > 100);
    tags.clear();
    for (auto& s : expected)
        for (const line& l : s) REQUIRE_FALSE(tags.holds(l.index));
}

TEST_CASE("a line's fetch ends when it was told, however many lines of its set are fetched", "[gpu]") {
    const auto ways = static_cast<std::uint64_t>(GENERATE(1, 4, 16, 32));
    l2_tags tags(2, ways, 0);
    std::mt19937_64 random(ways);
    for (unsigned round = 0; round < 3; ++round) {
        std::vector<std::pair<std::size_t, ticks>> filled;
        for (std::uint64_t way = 0; way < ways; ++way) {
            const std::uint64_t index = (random() % 1000 * 100 + way) * 2;
            if (tags.holds(index)) continue;
            const std::size_t at = tags.victim(index);
            const ticks ready = 1000 * round + random() % 1000;
            tags.fill(at, index, ready, false);
            filled.emplace_back(at, ready);
        }
        for (const auto& [at, ready] : filled) {
            REQUIRE(tags.ready(at) == ready);
            REQUIRE(tags.ready(at, ready - std::min<ticks>(ready, 1)) == ready);
            REQUIRE(tags.ready(at, ready) == ready);
            REQUIRE(tags.ready(at, 1000 * round + 1000) <= 1000 * round + 1000);
        }
    }
}

TEST_CASE("lines whose tags are long are told apart", "[gpu]") {
    const auto sets = static_cast<std::uint64_t>(GENERATE(1, 3, 128));
    l2_tags tags(sets, 16, 0);
    for (const std::uint64_t tag : {0xfffcu, 0xfffdu, 0xfffeu, 0xffffu, 0x1'0000u, 0x1'fffdu, 0x2'0000u}) {
        const std::uint64_t index = tag * sets + sets - 1;
        REQUIRE_FALSE(tags.holds(index));
        const std::size_t at = tags.victim(index);
        tags.fill(at, index, 0, false);
        REQUIRE(tags.find(index) == at);
    }
}
