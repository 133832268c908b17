// SPDX-License-Identifier: Apache-2.0
// Memory that a device shares with harts: time in the caches, and copies that end.
#include <catch2/catch.hpp>

#include <utility>
#include <vector>

#include "host/coherent_dram.h"

using namespace fabricvp;
using namespace fabricvp::time_literals;
using use = riscv::memory_timing::use;

namespace {

constexpr std::uint64_t base = 0x80000000, size = 1 << 20;
constexpr ticks l2 = 2_ns, l3 = 5_ns, line_time = 64 * ticks_per_second / 17'066'666'667,
                from_memory = l3 + 45_ns + line_time;

struct holder final : snooper {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> dropped;
    void invalidate_copies(std::uint64_t at, std::uint64_t bytes) override { dropped.emplace_back(at, bytes); }
};

struct bench {
    calendar cal{"calendar"};
    host::dram dram{"dram", {}, size};
    host::cache_hierarchy caches{"caches", host::cache_hierarchy_params{}, 1};
    host::coherent_dram memory{dram, caches, base};
    holder first, second;
    bench() {
        memory.add(first);
        memory.add(second);
        caches.on_line_acquired = [this](std::uint64_t line, std::uint64_t bytes) { memory.written(line, bytes); };
    }
    ticks read(std::uint64_t at) { return memory.access(at, 64, false, 0); }
    ticks write(std::uint64_t at, std::uint64_t bytes = 64) { return memory.access(at, bytes, true, 0); }
    ticks load(std::uint64_t at) { return caches.access(0, at, 8, use::load, 0); }
    ticks store(std::uint64_t at) { return caches.access(0, at, 8, use::store, 0); }
};

bench& fresh() {
    static bench b;
    b.caches.reset();
    restart_statistics();
    b.first.dropped.clear();
    b.second.dropped.clear();
    return b;
}

}  // namespace

TEST_CASE("it is memory where it lies, and nothing beside") {
    bench& b = fresh();
    CHECK(b.memory.holds(base, 64));
    CHECK(b.memory.holds(base + size - 64, 64));
    CHECK_FALSE(b.memory.holds(base + size - 32, 64));
    CHECK_FALSE(b.memory.holds(base - 64, 64));
    CHECK_FALSE(b.memory.holds(0, 64));
}

TEST_CASE("bytes are those of the harts' memory, whose pages harts then reach in order") {
    bench& b = fresh();
    const std::uint64_t value = 0x1234;
    b.dram.memory.write(4096, &value, sizeof value);
    std::uint64_t seen = 0;
    b.memory.read(base + 4096, &seen, sizeof seen);
    CHECK(seen == value);
    CHECK(b.dram.memory.marks(1) & sparse_memory::device);
    CHECK(b.memory.atomic(base + 8192, 4, atomic_extension::operation::bit_or, 6, 0, nullptr) == 0);
    CHECK(b.dram.memory.data()[8192] == 6);
    CHECK(b.dram.memory.marks(2) & sparse_memory::device);
}

TEST_CASE("a write ends all other copies") {
    bench& b = fresh();
    const std::uint64_t value = 1;
    b.memory.write(base + 64, &value, sizeof value, &b.first);
    CHECK(b.first.dropped.empty());
    CHECK(b.second.dropped == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{base + 64, 8}});
    b.memory.atomic(base + 128, 8, atomic_extension::operation::add, 1, 0, &b.second);
    CHECK(b.first.dropped == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{base + 128, 8}});
}

TEST_CASE("what is shared is in the last cache, or comes from memory") {
    bench& b = fresh();
    CHECK(b.read(base) == from_memory);
    CHECK(b.read(base) == l3);
    CHECK(b.caches.l3_misses.value() == 1);
    CHECK(b.caches.l3_hits.value() == 1);
    CHECK(b.caches.memory_reads.value() == 64);
    CHECK(b.write(base + 4096) == l3);  // all of a line needs no old bytes
    CHECK(b.caches.memory_reads.value() == 64);
    CHECK(b.write(base + 8192, 8) == l3);  // a part is merged when they come
    CHECK(b.caches.memory_reads.value() == 128);
}

TEST_CASE("a hart's new bytes are taken from its caches") {
    bench& b = fresh();
    b.store(base);
    CHECK(b.read(base) == l2 + l3);
    CHECK(b.caches.interventions.value() == 1);
    CHECK(b.read(base) == l3);  // the hart's copy is no newer
    CHECK(b.load(base) == 0);   // and still there
    CHECK(b.write(base) == l3);
    CHECK(b.load(base) == l2 + l3);  // now it has gone
}

TEST_CASE("a hart that takes a line ends copies once, until it is shared again") {
    bench& b = fresh();
    b.read(base);
    b.store(base + 8);
    CHECK(b.first.dropped == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{base, 64}});
    b.store(base + 16);  // its own by now
    CHECK(b.first.dropped.size() == 1);
    b.load(base + 16);
    CHECK(b.first.dropped.size() == 1);
    b.read(base);
    b.store(base + 16);
    CHECK(b.first.dropped.size() == 2);
}
