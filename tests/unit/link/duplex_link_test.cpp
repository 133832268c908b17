// SPDX-License-Identifier: Apache-2.0
// The lanes of both directions: what is configured, what has turned, what is lost.
#include "unit/link/link_bench.h"

#include <random>

using namespace fabricvp;
using namespace fabricvp::test;
using link::side;

namespace {

constexpr ticks switch_time = 100 * ns;

struct bench {
    calendar timeline;
    link::channel a{"a", wire()}, b{"b", wire()};
    link::duplex_link both{a, &b};
    link::channel forward{"forward", wire()}, backward{"backward", wire()};
    link::duplex_link fixed{forward, &backward};
    static bench& get() {
        static bench it;
        it.timeline.run_until(it.timeline.now() + us);
        it.a.reset();
        it.b.reset();
        it.both.set_lanes(8, 8);
        for (const auto s : {side::a, side::b}) it.both.repair(s, it.both.failed(s));
        it.both.reset();
        it.both.make_reversible({switch_time});
        return it;
    }
    void expect(std::uint64_t of_a, std::uint64_t of_b) const {
        CHECK(both.lanes(side::a) == of_a);
        CHECK(both.lanes(side::b) == of_b);
        CHECK(a.lanes() == of_a);
        CHECK(b.lanes() == of_b);
    }
};

}  // namespace

TEST_CASE("a lane that reverses serves neither direction until the switch time is over") {
    auto& it = bench::get();
    CHECK(it.both.reverse(side::a, 1) == 1);
    it.expect(8, 7);
    CHECK(it.both.reversing(side::a) == 1);
    run_for(switch_time - 1);
    it.expect(8, 7);
    run_for(1);
    it.expect(9, 7);
    CHECK(it.both.reversed(side::a) == 1);
    CHECK(it.both.reversed(side::b) == -1);
    // Two at different times end at different times.
    it.both.reverse(side::b, 2);
    run_for(40 * ns);
    it.both.reverse(side::b, 1);
    it.expect(6, 7);
    run_for(60 * ns);
    it.expect(6, 9);
    run_for(40 * ns);
    it.expect(6, 10);
}

TEST_CASE("a turn takes longer if what had been sent on the lane takes longer") {
    auto& it = bench::get();
    const auto now = it.timeline.now();
    it.b.send(now, now, 8 * 250, 16);  // 250 ns
    it.both.reverse(side::a, 1);
    run_for(249 * ns);
    it.expect(8, 7);
    run_for(1 * ns);
    it.expect(9, 7);
}

TEST_CASE("the last lane of a direction does not turn") {
    auto& it = bench::get();
    CHECK(it.both.reverse(side::a, 100) == 7);
    run_for(switch_time);
    it.expect(15, 1);
    CHECK(it.both.reverse(side::a, 1) == 0);
    CHECK(it.both.restore() == 7);
    it.expect(8, 1);
    run_for(switch_time);
    it.expect(8, 8);
    CHECK(it.both.restore() == 0);
}

TEST_CASE("repairing a fault gives back what was lost and undoes no turn") {
    auto& it = bench::get();
    it.both.reverse(side::a, 2);
    run_for(switch_time);
    CHECK(it.both.fail_lanes(side::a, 3) == 3);
    it.expect(7, 6);
    it.both.reverse(side::b, 1);
    run_for(switch_time);
    it.expect(6, 7);
    it.both.repair(side::a, 3);
    it.expect(9, 7);
    CHECK(it.both.reversed(side::a) == 1);
    // The other order: a lane lost, a lane reversed to the direction that lost it, and mended.
    it.both.restore();
    run_for(switch_time);
    it.both.fail_lanes(side::b, 2);
    it.both.reverse(side::b, 1);
    run_for(switch_time);
    it.expect(7, 7);
    it.both.repair(side::b, 2);
    it.expect(7, 9);
}

TEST_CASE("a direction that loses its last lane gets one from the other") {
    auto& it = bench::get();
    CHECK(it.both.fail_lanes(side::b, 64) == 8);
    it.expect(7, 0);
    CHECK_FALSE(it.b.up());
    run_for(switch_time);
    it.expect(7, 1);
    // Only if the other has more than one; as soon as it has.
    CHECK(it.both.fail_lanes(side::a, 6) == 6);
    CHECK(it.both.fail_lanes(side::b, 1) == 1);
    run_for(switch_time);
    it.expect(1, 0);
    it.both.repair(side::a, 2);
    run_for(switch_time);
    it.expect(2, 1);
    it.both.repair(side::b, 9);
    it.expect(2, 10);  // 8 and the two that have turned
    it.both.repair(side::a, 4);
    CHECK(it.both.failed(side::a) == 0);
    it.both.restore();
    run_for(switch_time);
    it.expect(8, 8);
}

TEST_CASE("lanes of a link that is not reversible do not turn: a direction may be left without") {
    auto& it = bench::get();
    CHECK(it.fixed.reverse(side::a, 1) == 0);
    CHECK(it.fixed.fail_lanes(side::a, 8) == 8);
    run_for(us);
    CHECK(it.forward.lanes() == 0);
    CHECK(it.backward.lanes() == 8);
    it.fixed.repair(side::a, 8);
    CHECK(it.forward.lanes() == 8);
    // An end that is alone has nothing to turn.
    link::duplex_link half(it.forward);
    half.make_reversible({switch_time});
    CHECK_FALSE(half.reversible());
    CHECK(half.fail_lanes(side::a, 3) == 3);
    CHECK(it.forward.lanes() == 5);
}

TEST_CASE("whatever happens, lanes are neither made nor lost") {
    auto& it = bench::get();
    std::mt19937 random(7);
    std::uint64_t broken[2] = {};
    for (unsigned step = 0; step < 20000; ++step) {
        const auto s = random() % 2 ? side::a : side::b;
        const auto n = 1 + random() % 5;
        switch (random() % 6) {
            case 0:
            case 1: it.both.reverse(s, n); break;
            case 2: it.both.restore(); break;
            case 3: broken[static_cast<unsigned>(s)] += it.both.fail_lanes(s, n); break;
            case 4: {
                const auto mended = std::min<std::uint64_t>(n, broken[static_cast<unsigned>(s)]);
                it.both.repair(s, mended);
                broken[static_cast<unsigned>(s)] -= mended;
                break;
            }
            default: run_for(random() % (2 * switch_time)); break;
        }
        std::uint64_t sum = 0;
        for (const auto d : {side::a, side::b}) sum += it.both.lanes(d) + it.both.reversing(d) + it.both.failed(d);
        REQUIRE(sum >= 16);  // a lane that breaks while it turns counts as both until it has turned
        REQUIRE(it.both.reversed(side::a) == -it.both.reversed(side::b));
        REQUIRE(it.a.lanes() == it.both.lanes(side::a));
    }
    for (const auto d : {side::a, side::b}) it.both.repair(d, broken[static_cast<unsigned>(d)]);
    run_for(switch_time);
    it.both.restore();
    run_for(switch_time);
    it.expect(8, 8);
}
