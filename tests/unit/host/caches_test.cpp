// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <catch2/catch.hpp>

#include "host/cache_hierarchy.h"

using namespace fabricvp;
using namespace fabricvp::time_literals;
using host::cache_tags;
using use = riscv::memory_timing::use;

namespace {

constexpr ticks l2 = 2_ns, l3 = 5_ns;  // 8 and 20 cycles at 4 GHz
constexpr ticks line_time = 64 * ticks_per_second / 17'066'666'667;
constexpr ticks from_memory = l2 + l3 + 45_ns + line_time;

struct bench {
    calendar cal{"calendar"};
    host::cache_hierarchy caches{"caches", host::cache_hierarchy_params{}, 2};
    host::cache_hierarchy half{"half", half_hidden(), 1};

    static host::cache_hierarchy_params half_hidden() {
        host::cache_hierarchy_params p;
        p.hidden = 0.5;
        return p;
    }
    ticks load(unsigned hart, std::uint64_t a, ticks at = 0) { return caches.access(hart, a, 8, use::load, at); }
    ticks store(unsigned hart, std::uint64_t a, ticks at = 0) { return caches.access(hart, a, 8, use::store, at); }
};

host::cache_hierarchy_params small() {
    host::cache_hierarchy_params p;
    p.l1 = {{1024}, 2};
    p.l2 = {{{4096}, 4}, {8}};
    p.l3 = {{{16 << 10}, 4}, {20}};
    return p;
}

bench& fresh() {
    static bench b;
    b.caches.reset();
    restart_statistics();
    return b;
}

}  // namespace

TEST_CASE("tags: least recently used goes first") {
    cache_tags c(2 * 64 * 4, 2, 64);  // 4 sets of 2 ways
    CHECK(c.sets() == 4);
    const std::uint64_t a = 0x1000, b = a + 4 * 64, d = a + 8 * 64;  // one set
    CHECK_FALSE(c.access(a, false).hit);
    CHECK_FALSE(c.access(b, true).hit);
    CHECK(c.access(a + 63, false).hit);
    const auto r = c.access(d, false);
    CHECK_FALSE(r.hit);
    CHECK(r.evicted == b);
    CHECK(r.written_back == b);
    CHECK(c.holds(a));
    CHECK_FALSE(c.holds(b));
    CHECK_FALSE(c.access(a + 64, false).evicted);  // another set
    const auto clean = c.access(b, false);
    CHECK(clean.evicted == a);
    CHECK_FALSE(clean.written_back);
}

TEST_CASE("tags: invalidate, clean, clear, bad shapes") {
    cache_tags c(1024, 4, 64);
    c.access(0, true);
    CHECK(c.dirty(0));
    CHECK(c.clean(0));
    CHECK_FALSE(c.clean(0));
    CHECK(c.holds(0));
    CHECK_FALSE(c.invalidate(0));
    CHECK_FALSE(c.holds(0));
    c.access(64, true);
    CHECK(c.invalidate(64));
    c.access(128, false);
    CHECK(c.write_back(128));
    CHECK_FALSE(c.write_back(192));
    c.clear();
    CHECK_FALSE(c.holds(128));
    CHECK_THROWS_AS(cache_tags(1024, 4, 48), std::invalid_argument);
    CHECK_THROWS_AS(cache_tags(1000, 4, 64), std::invalid_argument);
    CHECK_THROWS_AS(cache_tags(0, 4, 64), std::invalid_argument);
}

TEST_CASE("each level adds its latency") {
    auto& b = fresh();
    CHECK(b.load(0, 0x8000'0000) == from_memory);
    CHECK(b.load(0, 0x8000'0038, 1_us) == 0);  // the same line
    // Two more lines of the same L1 set (64 KiB, 2 ways: 32 KiB apart) push the first out of L1, not out of L2.
    b.load(0, 0x8000'8000, 2_us);
    b.load(0, 0x8001'0000, 3_us);
    CHECK(b.load(0, 0x8000'0000, 4_us) == l2);
    CHECK(b.load(1, 0x8000'0000, 5_us) == l2 + l3);  // the other hart finds it in the shared level
    CHECK(b.caches.l1_hits.value() == 1);
    CHECK(b.caches.l1_misses.value() == 5);
    CHECK(b.caches.l2_hits.value() == 1);
    CHECK(b.caches.l3_hits.value() == 1);
    CHECK(b.caches.l3_misses.value() == 3);
    CHECK(b.caches.memory_reads.value() == 3 * 64);
}

TEST_CASE("an access over a line border pays for both lines") {
    auto& b = fresh();
    CHECK(b.load(0, 0x103c) == 2 * from_memory);
    CHECK(b.caches.l1_misses.value() == 2);
}

TEST_CASE("a store takes the line from the other hart, a load leaves it there clean") {
    auto& b = fresh();
    b.store(0, 0x2000);
    CHECK(b.store(0, 0x2000, 1_us) == 0);
    CHECK(b.load(1, 0x2000, 2_us) == l2 + l3);
    CHECK(b.caches.interventions.value() == 1);
    CHECK(b.load(0, 0x2000, 3_us) == 0);    // hart 0 kept it
    CHECK(b.store(1, 0x2000, 4_us) == l3);  // and loses it now
    CHECK(b.caches.interventions.value() == 2);
    CHECK(b.load(0, 0x2000, 5_us) == l2 + l3);
}

TEST_CASE("channels serve one line after the other, and work side by side") {
    host::dram_channels_params p;
    host::dram_channels channels(p);
    CHECK(channels.transfer(0, 64, 0) == line_time + 45_ns);
    CHECK(channels.transfer(64, 64, 0) == 2 * line_time + 45_ns);  // the same channel
    CHECK(channels.transfer(256, 64, 0) == line_time + 45_ns);     // the next one
    CHECK(channels.channel_of(8 * 256) == 0);
    CHECK(channels.transfer(8 * 256, 64, 1_us) == 1_us + line_time + 45_ns);
    channels.clear();
    CHECK(channels.transfer(0, 64, 0) == line_time + 45_ns);
}

TEST_CASE("dirty lines reach memory when the last level is too small for them") {
    auto& b = fresh();
    const std::uint64_t lines = (32u << 20) / 64;  // twice L3
    for (std::uint64_t i = 0; i < lines; ++i) b.store(0, i * 64, i * 100_ns);
    CHECK(b.caches.l1_misses.value() == lines);
    CHECK(b.caches.memory_reads.value() == lines * 64);
    // All but what the caches still hold has been written back.
    const auto held = ((16u << 20) + (2u << 20) + (64u << 10)) / 64u;
    CHECK(b.caches.memory_writes.value() >= (lines - held) * 64);
    CHECK(b.caches.memory_writes.value() <= lines * 64);
}

TEST_CASE("devices and reset empty the caches") {
    auto& b = fresh();
    b.load(0, 0x4000);
    b.load(0, 0x4040);
    b.caches.invalidate(0x4038, 4);
    CHECK(b.load(0, 0x4000, 1_us) == from_memory);
    CHECK(b.load(0, 0x4040, 2_us) == 0);
    b.caches.reset();
    CHECK(b.load(0, 0x4040, 3_us) == from_memory);
}

TEST_CASE("hidden share of a miss") {
    auto& b = fresh();
    CHECK(b.half.access(0, 0x1000, 8, use::load, 0) == from_memory / 2);
    CHECK(b.half.stall.value() == from_memory / 2);
}

TEST_CASE("hits that are made first leave the rest as it was") {
    auto& b = fresh();
    static host::cache_hierarchy asked{"asked", small(), 3}, told{"told", small(), 3};
    std::mt19937 random(5);
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    for (int round = 0; round < 2; ++round) {  // the second with a block that shares L3
        for (auto* c : {&asked, &told}) {
            c->reset();
            if (round) c->on_line_acquired = [](std::uint64_t, std::uint64_t) {};
        }
        unsigned hits = 0;
        for (int i = 0; i < 20'000; ++i) {
            const auto hart = below(3);
            const unsigned size = 1u << below(4);
            // Words of its own more often than those of all, misaligned ones among them.
            const std::uint64_t address = below(3) ? 4096 * (hart + 1) + below(1200) : below(1500);
            const auto u = below(3) ? use::load : use::store;
            const auto at = static_cast<ticks>(i) * 1000;
            const bool hit = told.hit(hart, address, size, u);
            hits += hit;
            const auto waited = hit ? 0 : told.access(hart, address, size, u, at);
            REQUIRE(waited == asked.access(hart, address, size, u, at));
            if (!below(50)) {
                told.invalidate(address, 8);
                asked.invalidate(address, 8);
            }
        }
        CHECK(hits > 2'000);
        CHECK(told.l1_hits.value() == asked.l1_hits.value());
        CHECK(told.l1_misses.value() == asked.l1_misses.value());
        CHECK(told.l2_hits.value() == asked.l2_hits.value());
        CHECK(told.l3_misses.value() == asked.l3_misses.value());
        CHECK(told.interventions.value() == asked.interventions.value());
        CHECK(told.memory_writes.value() == asked.memory_writes.value());
        CHECK(told.stall.value() == asked.stall.value());
    }
    CHECK(b.caches.l1_hits.value() == 0);
}

TEST_CASE("a hart alone makes its clean lines dirty as it hits them; others ask first") {
    auto& b = fresh();
    b.load(0, 0x1000);
    CHECK(b.caches.hit(0, 0x1000, 8, use::load));
    CHECK_FALSE(b.caches.hit(0, 0x1000, 8, use::store));
    CHECK_FALSE(b.caches.hit(1, 0x1000, 8, use::load));
    b.store(0, 0x1000);
    CHECK(b.caches.hit(0, 0x1000, 8, use::store));
    CHECK_FALSE(b.caches.hit(0, 0x103c, 8, use::load));  // two lines
    b.half.access(0, 0x1000, 8, use::load, 0);
    CHECK(b.half.hit(0, 0x1000, 8, use::store));
}
