// SPDX-License-Identifier: Apache-2.0
// A first-level cache with few lines under way, behind a buffer that returns them in order: MGPUSim's.
#include "unit/gpu/memory_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

constexpr unsigned lines_in_flight = 4, buffered = 12, level_cycles = 500, looked_up_together = 4, memory_cycles = 200;
constexpr std::uint64_t base = 0x200000, near = 0x10000;  // offset and address of the first line

gpu_memory_system_params bounded() {
    gpu_memory_system_params p;
    p.capacity = {64 << 20};
    p.unit.reorder_buffer = buffered;
    p.unit.l1.in_flight = lines_in_flight;
    p.unit.l1.latency = {60};
    p.unit.l1.reserves_ways = true;
    p.unit.l1.write_latency = {50};
    p.l2.requests = looked_up_together;
    p.gmmu.level_latency = {level_cycles};
    p.hbm.column_latency = {memory_cycles};
    return p;
}
const gpu_memory_system_params p = bounded();

memory_machine& fresh() {
    auto& m = after_reset<bounded, 1>();
    m.map_range(near, base, 1 << 20);
    return m;
}

/// Loads of one lane each, of the lines with these numbers.
void issue(memory_machine& m, std::initializer_list<unsigned> lines) {
    for (const auto n : lines) m.clients[0]->memory.issue(m.clients[0]->one(access_kind::read, near + n * line_bytes));
}
/// Loads them, and waits until they are written.
void cache(memory_machine& m, std::initializer_list<unsigned> lines) {
    for (const auto n : lines) m.load(0, near + n * line_bytes);
    const at_time later(calendar::current().now() + 100'000, [] {});
    m.run();
}
double cycles_since(ticks begin, ticks end) { return static_cast<double>(end - begin) / 1000; }

}  // namespace

TEST_CASE("hits leave the cache as fast as their places become free") {
    auto& m = fresh();
    cache(m, {0});
    const auto begin = calendar::current().now();
    for (unsigned n = 0; n < 40; ++n) issue(m, {0});
    m.run();
    const auto& done = m.clients[0]->done;
    REQUIRE(done.size() == 40);
    // Little's law: 4 lines and 60 cycles.
    CHECK(cycles_since(begin, done.back().ready) >= (40 / lines_in_flight) * 60.0);
    CHECK(cycles_since(begin, done.back().ready) <= (40 / lines_in_flight) * 60.0 + 20);
    CHECK(m.system.units[0]->l1.in_flight_stalls.value() > 0);
}

TEST_CASE("stores take places as loads do") {
    auto& m = fresh();
    cache(m, {0});
    const auto begin = calendar::current().now();
    for (unsigned n = 0; n < 16; ++n)
        m.clients[0]->memory.issue(m.clients[0]->one(access_kind::write, near + n * line_bytes, n));
    m.run();
    REQUIRE(m.clients[0]->done.size() == 16);
    const auto taken = cycles_since(begin, m.clients[0]->done.back().ready);
    const double one = p.router.request_latency + p.router.response_latency + p.l2.latency;
    CHECK(taken >= 16 / lines_in_flight * one);
}

TEST_CASE("lines return in the order of their accesses") {
    auto& m = fresh();
    cache(m, {0, 1, 2});
    m.system.units[0]->invalidate();
    cache(m, {1, 2});
    issue(m, {0, 1, 2});  // a miss, and two hits behind it
    m.run();
    const auto& done = m.clients[0]->done;
    REQUIRE(done.size() == 3);
    for (unsigned n = 0; n < 3; ++n) CHECK(done[n].access->address[0] == near + n * line_bytes);
    CHECK(done[0].ready <= done[1].ready);
    CHECK(done[1].ready <= done[2].ready);
}

TEST_CASE("translation stops while the reorder buffer is full") {
    auto& m = fresh();
    // A page that takes a walk, and hits behind it.
    cache(m, {0});
    const auto far = near + (64 << 12);
    m.clients[0]->memory.issue(m.clients[0]->one(access_kind::read, far));
    for (unsigned n = 0; n < 3 * buffered; ++n) issue(m, {0});
    m.run();
    CHECK(m.clients[0]->done.size() == 1 + 3 * buffered);
    CHECK(m.clients[0]->done[0].access->address[0] == far);
    CHECK(m.system.units[0]->reorder_stalls.value() > 0);
}

TEST_CASE("a miss waits while all ways of its set are being fetched") {
    auto& m = fresh();
    const unsigned sets = static_cast<unsigned>(p.unit.l1.size / (p.unit.l1.ways * line_bytes));
    for (unsigned n = 0; n < 5; ++n) cache(m, {n * sets});  // a page each
    m.system.units[0]->invalidate();
    for (unsigned n = 0; n < 4; ++n) issue(m, {n * sets});
    issue(m, {4 * sets});
    m.run();
    CHECK(m.clients[0]->done.size() == 5);
    CHECK(m.system.units[0]->l1.way_stalls.value() > 0);
}

TEST_CASE("a miss takes the oldest way that is not being fetched") {
    auto& m = fresh();
    const auto& l1 = m.system.units[0]->l1;
    const unsigned sets = static_cast<unsigned>(l1.params.size / (l1.params.ways * line_bytes));
    cache(m, {1});                                          // the page of line 0, which stays in memory
    for (unsigned n = 1; n < 8; ++n) cache(m, {n * sets});  // others of its set, which are in the L2 then
    m.system.units[0]->invalidate();
    const auto before = l1.misses.value();
    const auto& done = m.clients[0]->done;
    issue(m, {0});
    for (unsigned n = 1; n < 8; ++n) issue(m, {n * sets});
    calendar::current().run_until(calendar::current().now() + 2 * memory_cycles * 1000);  // of 500 MHz
    CHECK(done.empty());  // in order, so line 0 comes first
    CHECK(l1.misses.value() - before == 8);
    m.run();
    CHECK(done.size() == 8);
}

TEST_CASE("a load of a line that is being written stops the cache until it is there") {
    auto& m = fresh();
    cache(m, {8});  // its page
    const auto& done = m.clients[0]->done;
    issue(m, {0});
    auto& timeline = calendar::current();
    while (done.empty()) timeline.run_until(timeline.next_event_time());
    issue(m, {0, 8});
    m.run();
    REQUIRE(done.size() == 3);
    CHECK(cycles_since(done[0].ready, done[1].ready) > 60 + 50 - 10);
    CHECK(done[2].ready > done[1].ready);  // what comes behind waits too
    CHECK(m.system.units[0]->l1.write_stalls.value() == 1);
    const auto third = calendar::current().now();
    issue(m, {0});
    m.run();
    CHECK(cycles_since(third, done[3].ready) < 60 + 10);
}

TEST_CASE("values are right through all of it") {
    auto& m = fresh();
    for (unsigned n = 0; n < 256; ++n) m.poke<std::uint32_t>(base + n * line_bytes, n * 3 + 1);
    auto& client = *m.clients[0];
    unsigned issued = 0;
    for (unsigned round = 0; round < 6; ++round) {
        auto a = client.make(access_kind::read, 4);
        a->mask = ~lane_mask{0};
        for (unsigned lane = 0; lane < 64; ++lane) a->address[lane] = near + (lane * 7 + round * 31) % 256 * line_bytes;
        client.memory.issue(a);
        ++issued;
    }
    m.run();
    REQUIRE(client.done.size() == issued);
    for (const auto& d : client.done)
        for (unsigned lane = 0; lane < 64; ++lane)
            REQUIRE(d.access->data[lane] == (d.access->address[lane] - near) / line_bytes * 3 + 1);
}

TEST_CASE("a level of a walk takes its least time") {
    auto& m = fresh();
    const auto& walks = m.system.gmmu.walk_latency;
    const double level = level_cycles * 1000;
    const auto walk = [&](std::uint64_t address) {
        const double before = walks.mean() * static_cast<double>(walks.count());
        m.load(0, address);
        return walks.mean() * static_cast<double>(walks.count()) - before;
    };
    const double first = walk(near);
    CHECK(first >= 4 * level);
    CHECK(first < 4.5 * level);
    const double second = walk(near + (1 << 12));  // the upper three are in the walk cache
    CHECK(second >= level);
    CHECK(second < 1.5 * level);
}

TEST_CASE("a bank of the L2 looks up several requests at a time") {
    auto& m = fresh();
    line_listener warm, all;
    const auto send = [&](line_listener& l, unsigned n) {  // lines of one bank
        m.system.router.send(
            l.make(access_kind::read, m.base() + base + n % 2 * line_bytes + n / 2 * p.l2.interleave * p.l2.banks));
    };
    for (unsigned n = 0; n < 16; ++n) send(warm, n);
    m.run();
    const auto begin = calendar::current().now();
    for (unsigned n = 0; n < 16; ++n) send(all, n);
    m.run();
    REQUIRE(all.responses.size() == 16);
    const double latency = p.router.request_latency + p.router.response_latency + p.l2.latency;
    for (unsigned n = 0; n < 16; ++n)
        CHECK(cycles_since(begin, all.responses[n].when) == latency + n / looked_up_together);
}
