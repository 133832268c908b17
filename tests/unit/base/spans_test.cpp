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
    CHECK(s == statistics_snapshot{{"spans.accesses", 10}, {"spans.total_ps", 500}, {"spans.unaccounted_ps", 300},
                                   {"top.left.lookup.spans.count", 20}, {"top.left.lookup.spans.queueing_ps", 45},
                                   {"top.left.lookup.spans.service_ps", 155}, {"top.left.lookup.spans.longest_ps", 20}});
    span_recorder::current().restart();
    CHECK(span_recorder::current().breakdown().stages.empty());
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
