// SPDX-License-Identifier: Apache-2.0
// Tags of an L2 bank against lists of lines in the order of their use.
#include <algorithm>
#include <catch2/catch.hpp>
#include <list>
#include <random>
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
