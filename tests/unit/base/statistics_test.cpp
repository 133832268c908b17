// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/busy_time.h"
#include "base/counter_totals.h"
#include "base/time_integral.h"
#include "results_bench.h"

using namespace fabricvp;

TEST_CASE("statistics register under the hierarchical name, in path order") {
    auto& top = results_bench();
    counter z{top.left, "z", "1", "last"};
    counter a{top.left, "a", "B", "first"};
    counter other{top.left2, "a", "1", "of a sibling with a longer name"};
    CHECK(a.path() == "top.left.a");
    CHECK(a.unit() == "B");
    CHECK(a.help() == "first");
    std::vector<std::string> paths;
    for (const auto* s : all_statistics()) paths.push_back(s->path());
    CHECK(paths == std::vector<std::string>{"top.left.a", "top.left.z", "top.left2.a"});
    ++a;
    a += 4;
    z += 7;
    ++other;
    CHECK(snapshot_statistics() == statistics_snapshot{{"top.left.a", 5}, {"top.left.z", 7}, {"top.left2.a", 1}});
    CHECK(snapshot_statistics("top.left") == statistics_snapshot{{"top.left.a", 5}, {"top.left.z", 7}});
    CHECK(snapshot_statistics("top.left2.a") == statistics_snapshot{{"top.left2.a", 1}});
    CHECK_THROWS_AS(counter(top.left, "a", "1", "again"), std::logic_error);
}

TEST_CASE("statistics stay in path order, whichever come and go") {
    auto& top = results_bench();
    std::vector<std::unique_ptr<counter>> some;
    for (const char* name : {"m", "c", "x", "a", "k"})
        some.push_back(std::make_unique<counter>(top.left, name, "1", ""));
    const auto names = [] {
        std::string all;
        for (const auto* s : all_statistics()) all += s->path().back();
        return all;
    };
    CHECK(names() == "ackmx");
    some.erase(some.begin() + 3);  // a
    some.erase(some.begin());      // m
    CHECK_THROWS_AS(counter(top.left, "x", "1", "again"), std::logic_error);
    counter again{top.left, "a", "1", "anew"};
    CHECK(names() == "ackx");
    some.clear();
    CHECK(names() == "a");
}

TEST_CASE("what lags catches up before statistics are read, and before they begin anew") {
    struct late : lagging {
        explicit late(counter& to) : to(to) { calendar::current().attach(*this); }
        ~late() { calendar::current().detach(*this); }
        void catch_up() override { to += std::exchange(owed, 0u); }
        counter& to;
        std::uint64_t owed = 0;
    };
    auto& top = results_bench();
    counter done{top.left, "done", "1", ""};
    late l(done);
    l.owed = 3;
    CHECK(snapshot_statistics().at("top.left.done") == 3);
    l.owed = 4;
    restart_statistics();
    CHECK(done.value() == 0);
    CHECK(done.total() == 7);
    CHECK(snapshot_statistics().at("top.left.done") == 0);
}

TEST_CASE("a region of interest counts from zero, totals go on") {
    auto& top = results_bench();
    counter a{top.left, "a", "1", ""}, b{top.left2, "b", "1", ""};
    derived twice{top.left, "twice", "1", "", [&] { return 2.0 * static_cast<double>(a.value()); }};
    histogram h{top.left, "h", "ps", ""};
    a += 10;
    b += 10;
    h.add(5);
    restart_statistics("top.left");
    a += 3;
    CHECK(a.value() == 3);
    CHECK(a.total() == 13);
    CHECK(b.value() == 10);
    CHECK(h.count() == 0);
    CHECK(snapshot_statistics().at("top.left.twice") == 6);
    restart_statistics();
    CHECK(b.value() == 0);
    counter none{top.left2, "none", "1", ""};
    CHECK(counter_totals() == statistics_snapshot{{"top.left.a", 13}, {"top.left2.b", 10}});
}

TEST_CASE("histograms give count, extremes, mean and interpolated percentiles") {
    auto& top = results_bench();
    histogram h{top.left, "h", "ps", ""};
    CHECK(h.percentile(0.5) == 0);
    statistics_snapshot empty;
    h.report(empty);
    CHECK(empty.at("top.left.h.min") == 0);
    for (std::uint64_t v = 1; v <= 1000; ++v) h.add(v);
    CHECK(h.count() == 1000);
    CHECK(h.mean() == Approx(500.5));
    CHECK(h.percentile(0.5) == Approx(500).epsilon(0.01));  // uniform values: interpolation in a bucket is exact
    CHECK(h.percentile(0.99) == Approx(990).epsilon(0.01));
    CHECK(h.percentile(0.0) == 1);
    CHECK(h.percentile(1.0) == 1000);
    statistics_snapshot s;
    h.report(s);
    CHECK(s.at("top.left.h.sum") == 500500);
    CHECK(s.at("top.left.h.max") == 1000);
    CHECK(s.at("top.left.h.p99") == h.percentile(0.99));

    h.restart();
    h.add(7, 99);
    h.add(0);
    CHECK(h.percentile(0.005) == 0);
    CHECK(h.percentile(0.5) <= 7);
    CHECK(h.percentile(0.5) > 3);
    CHECK(h.mean() == Approx(6.93));
    h.restart();
    h.add(~std::uint64_t{0});
    h.add(12, 0);
    CHECK(h.count() == 1);
    CHECK(h.percentile(0.5) == Approx(1.8446744e19));
}

TEST_CASE("a time series keeps sums a window, and doubles its windows when there are too many") {
    auto& top = results_bench();
    time_series t{top.left, "t", "B", "", 100, 8};
    t.add(0, 1);
    t.add(99, 2);
    t.add(100, 4);
    t.add(750, 8);
    CHECK(t.values() == std::vector<double>{3, 4, 0, 0, 0, 0, 0, 8});
    t.add(800, 16);  // a ninth window
    CHECK(t.window() == 200);
    CHECK(t.values() == std::vector<double>{7, 0, 0, 8, 16});
    t.add(100 * 8 * 8, 32);  // doubles until it fits
    CHECK(t.window() == 1600);
    CHECK(t.values() == std::vector<double>{31, 0, 0, 0, 32});
    statistics_snapshot s;
    t.report(s);
    CHECK(s.at("top.left.t.sum") == 63);
    CHECK(s.at("top.left.t.peak") == 32);
    CHECK(s.at("top.left.t.window_ps") == 1600);
    CHECK_THROWS_AS(time_series(top.left, "u", "B", "", 0, 8), std::invalid_argument);
}

TEST_CASE("a time series starts anew with its region of interest") {
    auto& top = results_bench();
    time_series t{top.left, "t", "B", "", 100, 8};
    t.add(10'000, 5);
    top.run_for(1'000);
    const ticks start = calendar::current().now();
    t.restart();
    CHECK(t.window() == 100);
    CHECK(t.values().empty());
    t.add(start + 150, 5);
    CHECK(t.values() == std::vector<double>{0, 5});
}

TEST_CASE("a number over time counts for its part of a region") {
    auto& top = results_bench();
    time_integral alive{top.left, "alive", "", 3};
    ++alive;
    top.run_for(10);
    restart_statistics();
    CHECK(alive.value() == 0);
    top.run_for(20);
    ++alive;
    top.run_for(5);
    CHECK(alive.value() == 20 + 2 * 5);
    --alive;
    --alive;
    top.run_for(100);
    CHECK(snapshot_statistics().at("top.left.alive") == 30);
}

TEST_CASE("no unit may say that it worked for longer than has passed") {
    auto& top = results_bench();
    busy_time two{top.left, "two", "cycles", "", 2, 10};
    time_integral alive{top.left, "alive", "", 1};
    derived share{top.left2, "share", "1", "", [&] { return static_cast<double>(two.value()) / 100; }, 1};
    const ticks start = calendar::current().now();
    two.book(0, start, start + 100);
    top.run_for(50);
    restart_statistics();
    top.run_for(50);
    two.book(1, start + 60, start + 100);
    CHECK(snapshot_statistics().at("top.left.two") == 9);
    two.book(1, start + 50, start + 70);  // it worked then already
    CHECK_THROWS_WITH(snapshot_statistics(), Catch::Contains("top.left.two is 11 cycles, of 10 at most") ||
                                                 Catch::Contains("top.left2.share"));
    restart_statistics();
    alive.set(2);
    top.run_for(30);
    CHECK_THROWS_WITH(snapshot_statistics(), Catch::Contains("top.left.alive is 60 ps, of 30 at most"));
    check_statistics(false);
    CHECK(snapshot_statistics().at("top.left.alive") == 60);
    check_statistics(true);
    restart_statistics();
    two.book(0, start + 130, start + 400);
    two.book(1, start + 130, start + 400);
    top.run_for(60);
    CHECK(snapshot_statistics("top.left.two").at("top.left.two") == 12);
    CHECK_THROWS_WITH(snapshot_statistics("top.left2"), Catch::Contains("top.left2.share is 1.2 1, of 1 at most"));
}
