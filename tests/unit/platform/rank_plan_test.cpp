// SPDX-License-Identifier: Apache-2.0
// Windows that planned ranks would have, of what one process has executed.
#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "platform/ranks/processor_timer.h"
#include "platform/ranks/window_plan.h"

using namespace fabricvp;
using namespace fabricvp::ranks;

namespace {

struct executed {
    unsigned rank;
    ticks when;
    double seconds;
};

struct expectation {
    std::uint64_t windows = 0, critical_path_events = 0, active = 0;
    double critical_path = 0;
    std::map<std::pair<unsigned, unsigned>, double> waited;
};

/// What window_synchronizer does up to the end of each slice, with all that is going to happen known.
expectation windows_of(const std::vector<executed>& all, unsigned ranks, ticks lookahead, ticks slice) {
    std::vector<std::vector<executed>> of(ranks);
    for (const auto& e : all) of[e.rank].push_back(e);
    std::vector<std::size_t> at(ranks);
    expectation result;
    ticks slice_end = slice;
    for (;;) {
        std::vector<ticks> next(ranks, never);
        for (unsigned r = 0; r < ranks; ++r)
            if (at[r] < of[r].size()) next[r] = of[r][at[r]].when;
        const ticks first = *std::min_element(next.begin(), next.end());
        if (first == never) return result;
        while (slice_end < first) slice_end += slice;
        std::vector<double> seconds(ranks);
        std::uint64_t max_events = 0;
        for (unsigned r = 0; r < ranks; ++r) {
            ticks end = next[r] == never ? never : next[r] + 2 * lookahead;
            for (unsigned s = 0; s < ranks; ++s)
                if (s != r && next[s] != never) end = std::min(end, next[s] + lookahead);
            const auto from = at[r];
            if (slice != never) end = std::min(end, slice_end + 1);
            for (; at[r] < of[r].size() && of[r][at[r]].when < end; ++at[r]) seconds[r] += of[r][at[r]].seconds;
            result.active += at[r] > from;
            max_events = std::max<std::uint64_t>(max_events, at[r] - from);
        }
        const auto busiest = std::max_element(seconds.begin(), seconds.end()) - seconds.begin();
        ++result.windows;
        result.critical_path += seconds[busiest];
        result.critical_path_events += max_events;
        for (unsigned r = 0; r < ranks; ++r)
            result.waited[{r, static_cast<unsigned>(busiest)}] += seconds[busiest] - seconds[r];
    }
}

void compare(const std::vector<executed>& all, unsigned ranks, ticks lookahead, ticks slice) {
    window_plan plan(ranks, lookahead, slice);
    for (const auto& e : all) plan.add(e.rank, e.when, e.seconds, 1);
    plan.finish();
    const auto expected = windows_of(all, ranks, lookahead, slice);
    CHECK(plan.work().windows() == expected.windows);
    CHECK(plan.work().events() == all.size());
    CHECK(plan.work().critical_path_events() == expected.critical_path_events);
    CHECK(plan.work().critical_path_seconds() == Approx(expected.critical_path));
    CHECK(plan.work().active_ranks() * static_cast<double>(expected.windows) == Approx(expected.active));
    for (unsigned r = 0; r < ranks; ++r)
        for (unsigned b = 0; b < ranks; ++b) {
            const auto found = expected.waited.find({r, b});
            CHECK(plan.waited(r, b) == Approx(found == expected.waited.end() ? 0 : found->second).margin(1e-9));
        }
}

}  // namespace

TEST_CASE("a window lasts until another rank's word could count") {
    // Rank 1 begins at 5: rank 0 may go on to 14, rank 1 to 9, since rank 0 has something at 0.
    window_plan plan(2, 10, never);
    for (const auto& [rank, when] : {std::pair(0u, 0u), {1u, 5u}, {1u, 9u}, {1u, 10u}, {0u, 14u}, {0u, 15u}})
        plan.add(rank, when, rank ? 1 : 2, 1);
    plan.finish();
    CHECK(plan.work().windows() == 2);
    CHECK(plan.work().events() == 6);
    CHECK(plan.work().critical_path_events() == 3);
    CHECK(plan.work().critical_path_seconds() == 4 + 2);
    CHECK(plan.work().bound() == 9.0 / 6);
    CHECK(plan.work().bound_by_events() == 2);
    CHECK(plan.waited(1, 0) == 3);
    CHECK(plan.waited(0, 1) == 0);
    CHECK(plan.work_of(0).seconds == 6);
    CHECK(plan.work_of(1).events == 3);
}

TEST_CASE("a window ends with the slice in which it begins") {
    // Without slices there would be windows from 0 and from 28; the slices end with 7, 14 and 28.
    window_plan plan(2, 10, 7);
    for (const auto& [rank, when] : {std::pair(0u, 0u), {1u, 3u}, {0u, 7u}, {1u, 8u}, {0u, 9u}, {0u, 28u}, {1u, 29u}})
        plan.add(rank, when, rank ? 1 : 2, 1);
    plan.finish();
    CHECK(plan.work().windows() == 4);
    CHECK(plan.work().critical_path_events() == 2 + 1 + 1 + 1);
    CHECK(plan.work().critical_path_seconds() == 4 + 2 + 2 + 1);
}

TEST_CASE("what happens last of all time is in a window, too") {
    for (const ticks slice : {ticks{1}, ticks{100}, never - 1, never}) {
        window_plan plan(2, 10, slice);
        for (const ticks when : {ticks{0}, never - 2, never - 1})
            for (unsigned rank = 0; rank < 2; ++rank) plan.add(rank, when, 1, 1);
        plan.finish();
        CHECK(plan.work().events() == 6);
        CHECK(plan.work().windows() == (slice == 1 ? 3 : 2));
    }
}

TEST_CASE("planned windows are those of ranks that know what is to come") {
    std::mt19937 random(1);
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    for (unsigned round = 0; round < 200; ++round) {
        const unsigned ranks = 1 + below(5);
        const ticks lookahead = 1 + below(30);
        std::vector<executed> all;
        ticks now = 0;
        for (unsigned i = 0, count = 1 + below(300); i < count; ++i) {
            const auto kind = below(10);
            now += kind == 0 ? below(500) : kind < 5 ? 0 : below(12);  // bursts, and times without anything
            all.push_back({kind < 8 ? below(ranks) : 0, now, 1 + below(100) / 10.0});
        }
        INFO("round " << round);
        compare(all, ranks, lookahead, never);
        for (const unsigned slice : {1 + below(20), 1 + below(200)}) compare(all, ranks, lookahead, slice);
    }
}

TEST_CASE("a lap counts the time in which the thread has had a core") {
    const auto used = [] {
        timespec t{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
    };
    processor_timer timer;
    timer.lap();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    CHECK(timer.lap() < 0.1);
    const auto before = used();
    while (used() < before + 0.05) {
    }
    CHECK(timer.lap() == Approx(used() - before).margin(0.01));
    double sum = 0;
    const auto again = used();
    while (used() < again + 0.05) sum += timer.lap();  // laps much shorter than a switch of processes
    CHECK(sum == Approx(used() - again).margin(0.025));
}
