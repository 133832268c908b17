// SPDX-License-Identifier: Apache-2.0
// The coalescer takes the addresses of some lanes a cycle: what an access to few lines costs then.
#include "unit/gpu/memory_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

constexpr std::uint64_t base = 0x8000'0000;

gpu_memory_system_params sixteen_lanes() {
    gpu_memory_system_params p;
    p.capacity = {64 << 20};
    p.unit.address_lanes = 16;
    return p;
}
const double l1_hit = [] {
    const auto p = sixteen_lanes();
    return static_cast<double>(p.unit.latency + p.unit.tlb.latency + p.unit.l1.latency);
}();

memory_machine& machine() {
    auto& m = after_reset<sixteen_lanes, 1>();
    m.map_range(base, 0x200000, 0x200000, 1);
    for (std::uint64_t line = 0; line < 64; ++line) m.load(0, base + 64 * line);
    return m;
}

/// Cycles from the issue of the first of many loads to the data of the last.
double stream(memory_machine& m, unsigned number, std::uint64_t stride, lane_mask mask = ~lane_mask{0}) {
    auto& client = *m.clients[0];
    client.done.clear();
    const ticks begin = calendar::current().now();
    for (unsigned n = 0; n < number; ++n) {
        auto a = client.make(access_kind::read, 4, n);
        a->mask = mask;
        for (unsigned lane = 0; lane < wavefront_lanes; ++lane) a->address[lane] = base + lane * stride;
        client.memory.issue(a);
    }
    m.run();
    REQUIRE(client.done.size() == number);
    ticks last = 0;
    for (const auto& d : client.done) last = std::max(last, d.ready);
    client.done.clear();
    const at_time passes(std::max(last, calendar::current().now()), [] {});
    m.run();
    return static_cast<double>(last - begin) / 1000;
}

}  // namespace

TEST_CASE("an access to one line occupies the coalescer for the cycles of its lanes") {
    auto& m = machine();
    CHECK(stream(m, 1, 0) == l1_hit);  // the first one is not later
    CHECK(stream(m, 9, 0) == l1_hit + 8 * 4);
    CHECK(stream(m, 9, 4) == l1_hit + 8 * 4 + 3);  // the last one has four lines
}

TEST_CASE("lanes behind the last active one cost nothing") {
    auto& m = machine();
    CHECK(stream(m, 9, 0, 0xffffffff) == l1_hit + 8 * 2);  // a wavefront of 32 lanes
    CHECK(stream(m, 9, 0, 1) == l1_hit + 8);
    CHECK(stream(m, 9, 0, lane_mask{1} << 63) == l1_hit + 8 * 4);
}

TEST_CASE("an access to many lines takes a cycle for each") {
    auto& m = machine();
    CHECK(stream(m, 1, 64) == l1_hit + 63);
    CHECK(stream(m, 3, 64) == l1_hit + 3 * 64 - 1);
    CHECK(stream(m, 3, 8) == l1_hit + 3 * 8 - 1);
}
