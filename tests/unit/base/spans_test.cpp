// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <stdexcept>

#include "base/spans.h"
#include "results_bench.h"

using namespace fabricvp;

namespace {

struct recording {
    recording() {
        span_recorder::current().restart();
        span_recorder::current().enable(true);
    }
    ~recording() { span_recorder::current().enable(false); }
};

}  // namespace

TEST_CASE("where the time of one access went: queueing apart from service, and the rest") {
    auto& top = results_bench();
    const recording on;
    span_stage lookup{top.left, "lookup"}, link{top.left2, "link"}, never_used{top.left2, "dram"};
    span_list spans;
    spans.add(link, span_kind::queueing, 150, 200);
    spans.add(link, span_kind::service, 200, 260);
    spans.add(lookup, span_kind::service, 100, 130);
    spans.add(link, span_kind::service, 250, 300);  // overlaps the other by 10
    const auto b = spans.breakdown(100, 400);
    CHECK(b.total == 300);
    CHECK(b.unaccounted == 20 + 100);  // 130 … 150 and 300 … 400
    REQUIRE(b.stages.size() == 2);
    CHECK(b.stages[0].component == "top.left");
    CHECK(b.stages[0].stage == "lookup");
    CHECK(b.stages[0].service == 30);
    CHECK(b.stages[0].queueing == 0);
    CHECK(b.stages[1].stage == "link");
    CHECK(b.stages[1].queueing == 50);
    CHECK(b.stages[1].service == 110);
    CHECK(b.stages[1].spans == 3);
    CHECK(b.stages[1].longest == 60);
    CHECK_THROWS_AS(span_stage(top.left, "lookup"), std::logic_error);
}

TEST_CASE("the recorder sums over accesses") {
    auto& top = results_bench();
    const recording on;
    span_stage lookup{top.left, "lookup"};
    span_list spans, child;
    for (ticks t = 0; t < 10; ++t) {
        spans.add(lookup, span_kind::queueing, t * 100, t * 100 + t);
        child.add(lookup, span_kind::service, t * 100 + t, t * 100 + 20);
        spans.append(child);
        child.clear();
        span_recorder::current().finish(spans, t * 100, t * 100 + 50);
        CHECK(spans.empty());
    }
    const auto b = span_recorder::current().breakdown();
    CHECK(b.accesses == 10);
    CHECK(b.total == 500);
    CHECK(b.unaccounted == 300);
    REQUIRE(b.stages.size() == 1);
    CHECK(b.stages[0].queueing == 45);
    CHECK(b.stages[0].service == 155);
    statistics_snapshot s;
    span_recorder::current().report(s);
    CHECK(s == statistics_snapshot{{"spans.accesses", 10},
                                   {"spans.total_ps", 500},
                                   {"spans.unaccounted_ps", 300},
                                   {"top.left.lookup.spans.count", 20},
                                   {"top.left.lookup.spans.queueing_ps", 45},
                                   {"top.left.lookup.spans.service_ps", 155},
                                   {"top.left.lookup.spans.longest_ps", 20}});
    span_recorder::current().restart();
    CHECK(span_recorder::current().breakdown().stages.empty());
}

TEST_CASE("of spans that overlap, the chain that ended last counts, once; accesses are sorted by kind and reach") {
    auto& top = results_bench();
    const recording on;
    auto& recorder = span_recorder::current();
    span_stage lookup{top.left, "lookup"}, link{top.left2, "link"}, dram{top.left2, "dram"};
    span_list spans, child;
    // Two lines side by side; the second, which began later, arrives last.
    spans.add(lookup, span_kind::service, 10, 20);
    spans.add(link, span_kind::service, 20, 90);
    child.add(lookup, span_kind::queueing, 10, 30);
    child.add(lookup, span_kind::service, 30, 40);
    child.add(dram, span_kind::service, 40, 100);
    child.mark(span_reach::other_cluster);
    child.mark(span_reach::own_memory);  // nearer: says nothing new
    spans.append(child);
    CHECK(spans.reach() == span_reach::other_cluster);
    recorder.finish(spans, 0, 100, nullptr, "load");
    CHECK(spans.reach() == span_reach::none);
    spans.add(lookup, span_kind::service, 200, 210);
    recorder.finish(spans, 200, 210, nullptr, "load");

    const auto paths = recorder.paths();
    REQUIRE(paths.size() == 2);
    CHECK(paths[0].reach == span_reach::none);
    CHECK(paths[0].accesses == 1);
    const auto& far = paths[1];
    CHECK(far.what == "load");
    CHECK(far.reach == span_reach::other_cluster);
    CHECK(far.total == 100);
    CHECK(far.unaccounted == 10);  // before anything began
    REQUIRE(far.stages.size() == 2);
    CHECK(far.stages[0].stage == "lookup");
    CHECK(far.stages[0].queueing == 20);
    CHECK(far.stages[0].service == 10);
    CHECK(far.stages[1].stage == "dram");
    CHECK(far.stages[1].service == 60);
    statistics_snapshot s;
    recorder.report(s);
    CHECK(s.at("spans.load.other_cluster.accesses") == 1);
    CHECK(s.at("spans.load.other_cluster.total_ps") == 100);
    CHECK(s.at("spans.unaccounted_ps") == 10);
}

TEST_CASE("while recording is off nothing is kept") {
    auto& top = results_bench();
    span_recorder::current().restart();
    span_stage lookup{top.left, "lookup"};
    span_list spans;
    spans.add(lookup, span_kind::service, 0, 10);
    CHECK(spans.empty());
    span_recorder::current().finish(spans, 0, 10);
    statistics_snapshot s;
    span_recorder::current().report(s);
    CHECK(s.empty());
}
