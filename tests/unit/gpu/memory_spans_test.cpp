// SPDX-License-Identifier: Apache-2.0
// Where the time of lanes' accesses went: the spans of an access of one line add up to its latency, to the tick; those
// of accesses of many lines, which overlap, leave nothing out.
#include <map>
#include <random>
#include <string>

#include "unit/gpu/memory_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

gpu_memory_system_params small() {
    gpu_memory_system_params p;
    p.capacity = {64 << 20};
    p.unit.tlb.ways = 4;
    p.unit.tlb.mshrs = 2;
    p.unit.l1.size = {4 << 10};
    p.unit.l1.mshrs = 4;
    p.unit.outstanding_bypasses = 8;
    p.l2_tlb.sets = 1;
    p.l2_tlb.ways = 8;
    p.l2_tlb.mshrs = 2;
    p.gmmu.walkers = 1;
    p.l2.size = {64 << 10};
    p.l2.banks = 2;
    p.l2.mshrs = 8;
    return p;
}

constexpr std::uint64_t base = 0x8000'0000, size = 4 << 20;

struct bench {
    calendar cal{"calendar"};
    memory_machine m{"gpu", small(), 4};
    span_recorder& recorder = span_recorder::current();
};
bench& fresh() {
    static bench b;
    b.m.reset();
    b.m.map_range(base, 0x400000, size);
    b.recorder.restart();
    b.recorder.enable(true);
    return b;
}

/// Stage names of an access with the time that each took.
std::map<std::string, ticks> stages(const span_recorder& r, const recorded_access& a, ticks& sum) {
    std::map<std::string, ticks> out;
    sum = 0;
    for (const auto& s : a.spans) {
        CHECK(s.begin <= s.end);
        CHECK(s.begin >= a.begin);
        CHECK(s.end <= a.end);
        sum += s.end - s.begin;
        out[r.component_of(s.stage) + "." + r.name_of(s.stage) + (s.kind == span_kind::queueing ? " waits" : "")] +=
            s.end - s.begin;
    }
    return out;
}

void stress(bench& b, unsigned accesses, unsigned lanes) {
    std::mt19937_64 random(lanes);
    std::vector<std::unique_ptr<at_time>> events;
    const ticks begin = calendar::current().now();
    for (unsigned i = 0; i < accesses; ++i) {
        auto& client = *b.m.clients[random() % 4];
        const auto dice = random() % 8;
        const auto kind = dice < 5 ? access_kind::read : dice < 7 ? access_kind::write : access_kind::atomic;
        auto a = client.make(kind, 4, 0);
        a->operation = atomic_extension::operation::add;
        const auto page = base + random() % (i % 4 ? 6 : size / 4096) * 4096;  // most in few pages
        for (unsigned lane = 0; lane < lanes; ++lane) {
            a->mask |= lane_mask{1} << lane;
            a->address[lane] = page + random() % (i % 8 ? 64 : 1024) * 4;
            a->data[lane] = i;
        }
        events.push_back(
            std::make_unique<at_time>(begin + 1000 * (1 + random() % (accesses * (lanes + 7))), [&client, a] {
                if (client.memory.can_issue()) client.memory.issue(a);
            }));
    }
    b.m.run(ticks{10'000'000'000});
}

}  // namespace

TEST_CASE("a load's time by stage") {
    auto& b = fresh();
    b.recorder.record_next(3);
    const auto address = base + 0x1000;
    const auto first = b.m.time(0, b.m.clients[0]->one(access_kind::read, address));
    const auto second = b.m.time(0, b.m.clients[0]->one(access_kind::read, address));
    b.m.time(0, b.m.clients[0]->one(access_kind::atomic, address));
    REQUIRE(b.recorder.recorded().size() == 3);
    ticks sum = 0;
    const auto miss = stages(b.recorder, b.recorder.recorded()[0], sum);
    CHECK(sum == static_cast<ticks>(first * 1000));
    for (const char* stage : {"gpu.unit0.coalesce", "gpu.unit0.tlb.lookup", "gpu.l2_tlb.lookup", "gpu.gmmu.walk",
                              "gpu.unit0.l1.lookup", "gpu.router.request", "gpu.hbm.access", "gpu.unit0.l1.fill"})
        CHECK(miss.count(stage) == 1);
    CHECK(miss.at("gpu.hbm.access") % 1000 == 0);
    const auto hit = stages(b.recorder, b.recorder.recorded()[1], sum);
    CHECK(sum == static_cast<ticks>(second * 1000));
    CHECK(hit.size() == 3);
    CHECK(hit.count("gpu.unit0.l1.hit") == 1);
    const auto atomic = stages(b.recorder, b.recorder.recorded()[2], sum);
    CHECK(sum == b.recorder.recorded()[2].end - b.recorder.recorded()[2].begin);
    CHECK(b.recorder.recorded()[2].what == "atomic");
}

TEST_CASE("the spans of accesses of one line add up to their latency, whatever they wait for") {
    auto& b = fresh();
    b.recorder.record_next(100'000);
    stress(b, 4000, 1);
    std::map<std::string, ticks> seen;
    unsigned wrong = 0;
    for (const auto& a : b.recorder.recorded()) {
        ticks sum = 0;
        for (const auto& [stage, time] : stages(b.recorder, a, sum)) seen[stage] += time;
        wrong += sum != a.end - a.begin;
    }
    CHECK(b.recorder.recorded().size() > 1000);
    CHECK(wrong == 0);
    for (const char* stage : {"gpu.gmmu.queue waits", "gpu.unit0.tlb.queue waits", "gpu.unit1.port waits",
                              "gpu.unit2.l1.merge waits", "gpu.hbm.access waits", "gpu.l2.bank0.atomic"})
        CHECK(seen[stage] > 0);
    CHECK(b.recorder.breakdown().unaccounted == 0);
}

TEST_CASE("the spans of accesses of many lines leave nothing out") {
    auto& b = fresh();
    stress(b, 600, 64);
    const auto all = b.recorder.breakdown();
    CHECK(all.accesses > 500);
    CHECK(all.unaccounted == 0);
    CHECK(all.total > 0);
}

TEST_CASE("what lanes want of the lines that are fetched") {
    auto& m = fresh().m;
    const auto& l1 = m.system.units[1]->l1;
    const auto want = [&](std::uint64_t line, std::initializer_list<unsigned> offsets) {
        auto a = m.clients[1]->make(access_kind::read, 4);
        unsigned lane = 0;
        for (const auto offset : offsets) {
            a->mask |= lane_mask{1} << lane;
            a->address[lane++] = base + 64 * line + offset;
        }
        m.time(1, a);
    };
    const auto before = l1.lines_needing_16.value(), two = l1.lines_needing_32.value(),
               three = l1.lines_needing_48.value(), all = l1.lines_needing_64.value();
    want(0, {0});
    want(1, {16, 20, 24, 28});
    want(2, {12, 16});
    want(3, {0, 32, 60});
    want(4, {0, 16, 32, 48});
    CHECK(l1.lines_needing_16.value() - before == 2);
    CHECK(l1.lines_needing_32.value() - two == 1);
    CHECK(l1.lines_needing_48.value() - three == 1);
    CHECK(l1.lines_needing_64.value() - all == 1);
}

TEST_CASE("recording that begins while accesses are under way") {
    auto& b = fresh();
    stress(b, 200, 16);  // states of accesses, which are used again, hold its times
    b.recorder.enable(false);
    std::mt19937_64 random(1);
    for (unsigned i = 0; i < 16; ++i) {
        auto& client = *b.m.clients[i % 4];
        auto a = client.make(access_kind::read, 4, 0);
        a->mask = 0xffff;
        for (unsigned lane = 0; lane < 16; ++lane) a->address[lane] = base + random() % size / 4 * 4;
        client.memory.issue(a);
    }
    b.recorder.enable(true);
    b.recorder.record_next(16);
    b.m.run(ticks{10'000'000'000});
    REQUIRE(b.recorder.recorded().size() == 16);
    for (const auto& a : b.recorder.recorded()) {
        ticks sum;
        stages(b.recorder, a, sum);  // none begins before its access
    }
}
