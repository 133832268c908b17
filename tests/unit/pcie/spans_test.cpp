// SPDX-License-Identifier: Apache-2.0
// Where does the time of a TLP go? Every tick of an access lies in exactly one span.
#include <catch2/catch.hpp>

#include "base/spans.h"
#include "cs_storm_bench.h"

using namespace fabricvp;
using namespace fabricvp::pcie;
using test::cs_storm_bench;

namespace {

ticks sum(const recorded_access& a, const char* stage) {
    ticks total = 0;
    for (const auto& s : a.spans)
        if (span_recorder::current().name_of(s.stage) == stage) total += s.end - s.begin;
    return total;
}

void print(const recorded_access& a) {
    const auto& recorder = span_recorder::current();
    for (const auto& s : a.spans)
        UNSCOPED_INFO(recorder.component_of(s.stage) << ' ' << recorder.name_of(s.stage) << ' '
                                                     << (s.kind == span_kind::queueing ? "queueing " : "service ")
                                                     << (s.end - s.begin) / 1e3 << " ns");
}

/// Spans follow each other without gap or overlap from begin to end.
void check_complete(const recorded_access& a) {
    print(a);
    auto at = a.begin;
    for (const auto& s : a.spans) {
        REQUIRE(s.begin == at);
        REQUIRE(s.end > s.begin);
        at = s.end;
    }
    CHECK(at == a.end);
}

}  // namespace

TEST_CASE("every tick of an access is accounted for") {
    calendar timeline;
    port_params port;
    port.max_payload = 256;
    cs_storm_bench bench("bench", port, 64);
    auto& recorder = span_recorder::current();
    const auto read = [&](unsigned engine, std::uint64_t address) {
        const auto into = allocate_slice(256);
        bench.engines[engine]->dma.read(address, into, [](request_status s) { CHECK(s == request_status::ok); });
    };

    read(0, 0x1000);  // not recorded
    timeline.run_until(10'000'000);
    CHECK(recorder.breakdown().accesses == 0);

    // An idle tree: no queueing at all; host memory takes its 60 ns.
    recorder.enable(true);
    recorder.record_next(10'000);
    read(0, 0x1000);
    timeline.run_until(20'000'000);
    REQUIRE(recorder.recorded().size() == 1);
    const auto idle = recorder.recorded()[0];
    check_complete(idle);
    CHECK(idle.what == "read");
    CHECK(idle.address == 0x1000);
    CHECK(idle.who == std::string("bench.engine0.dma"));
    CHECK(sum(idle, "memory") == 60'000);
    CHECK(sum(idle, "wire") == 6 * ticks{port.propagation});
    CHECK(sum(idle, "processing") == 6 * ticks{port.processing});
    CHECK(sum(idle, "fifo") == 0);
    CHECK(sum(idle, "arbitration") == 0);
    CHECK(recorder.breakdown().unaccounted == 0);

    // The same read while its board's other engine and those of the other board keep the path to the root busy.
    recorder.restart();
    for (unsigned rival : {1u, 2u, 3u}) bench.engines[rival]->push(0, 0x10000 * rival, 64 << 10, {});
    timeline.run_until(22'000'000);
    read(0, 0x1000);
    timeline.run_until(60'000'000);
    bool found = false;
    std::uint64_t writes = 0;
    for (const auto& a : recorder.recorded()) {
        check_complete(a);
        writes += a.what == "write";
        if (a.what != "read") continue;
        found = true;
        CHECK(a.end - a.begin > idle.end - idle.begin);
        CHECK(sum(a, "fifo") + sum(a, "arbitration") > 0);
        CHECK(sum(a, "memory") == 60'000);
    }
    CHECK(found);
    CHECK(writes == 3 * (64 << 10) / 256);
    CHECK(recorder.breakdown().unaccounted == 0);

    // Pieces of a write that turns round at the root complex are accesses of their own.
    recorder.restart();
    bench.engines[0]->push(0, cs_storm_bench::engine_base(5), 1024, {});
    timeline.run_until(80'000'000);
    CHECK(recorder.breakdown().accesses == 1024 / 64);
    for (const auto& a : recorder.recorded()) check_complete(a);
    recorder.enable(false);
}
