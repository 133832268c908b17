// SPDX-License-Identifier: Apache-2.0
// Latency of each level is the sum of its parameters, exactly; bandwidth is what they say.
#include "unit/gpu/memory_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

gpu_memory_system_params small() {
    gpu_memory_system_params p;
    p.capacity = {64 << 20};
    p.hbm.clock = {500'000'000};
    p.unit.tlb.ways = 4;
    p.l2_tlb.sets = 4;
    p.l2_tlb.ways = 4;
    return p;
}

memory_machine& fresh() { return after_reset<small, 4>(); }

// Sums of the parameters above, in GPU cycles (1 ns); a memory clock is two of them.
const gpu_memory_system_params p = small();
const double front = static_cast<double>(p.unit.latency + p.unit.tlb.latency);
const double l1_hit = front + static_cast<double>(p.unit.l1.latency);
const double network = static_cast<double>(p.router.request_latency + p.router.response_latency);
const double l2_round = network + static_cast<double>(p.l2.latency);
const double bypass_latency = front + static_cast<double>(p.unit.l1.tag_latency + p.unit.l1.fill_latency);
const double l2_hit = bypass_latency + l2_round;
const double burst = 2.0 * static_cast<double>(p.hbm.burst_length) / 2;
const double row_hit = 2.0 * static_cast<double>(p.hbm.column_latency) + burst;
const double row_open = row_hit + 2.0 * static_cast<double>(p.hbm.row_to_column);
const double row_conflict = row_open + 2.0 * static_cast<double>(p.hbm.row_precharge);

double chase(memory_machine& m, std::uint64_t address, unsigned unit = 0) {
    return m.time(unit, m.clients[unit]->one(access_kind::read, address, 0, 8));
}

}  // namespace

TEST_CASE("each level costs what its parameters add up to") {
    auto& m = fresh();
    m.map_range(0x8000'0000, 0x200000, 0x200000, 1);
    m.map_range(0x8020'0000, 0x400000, 0x200000, 1);
    const auto opens = m.system.hbm.row_opens.value();
    const std::uint64_t a = 0x8000'0000;
    chase(m, a + 0x3000 * p.hbm.channels);  // brings the translation in
    // Same channel, bank and row as nothing before: a bank without an open row.
    CHECK(chase(m, a) == Approx(l2_hit + row_open).epsilon(1e-12));
    CHECK(m.system.hbm.row_opens.value() > opens);
    CHECK(chase(m, a) == l1_hit);
    CHECK(chase(m, a + 64) == l2_hit + row_hit);  // the next line: in the same chunk of the same row
    CHECK(chase(m, a + 64) == l1_hit);
    CHECK(chase(m, a, 1) > l2_hit);  // another unit: its TLB misses
    CHECK(chase(m, a + 64, 1) == l2_hit);
    // The other row of the same bank of the same channel. Rows of a channel lie channels x 2 KiB apart; banks repeat.
    std::uint64_t other = 0;
    const auto conflicts = m.system.hbm.row_conflicts.value();
    double took = 0;
    for (std::uint64_t row = 1; row < 60 && !other; ++row) {
        took = chase(m, a + row * p.hbm.channels * p.hbm.row);
        if (m.system.hbm.row_conflicts.value() > conflicts) other = row;
    }
    REQUIRE(other);
    CHECK(took == l2_hit + row_conflict);
}

TEST_CASE("a pointer chase at each level") {
    auto& m = fresh();
    const std::uint64_t base = 0x8000'0000, lines = 64;
    m.map_range(base, 0x200000, 0x200000, 1);
    for (std::uint64_t i = 0; i < lines; ++i)  // a cycle through lines in an order that is no sequence
        m.poke<std::uint64_t>(0x200000 + i * 64, base + (i * 29 + 17) % lines * 64);
    std::uint64_t at = base;
    const auto walk = [&](unsigned unit) {
        double sum = 0;
        for (std::uint64_t i = 0; i < lines; ++i) {
            auto a = m.clients[unit]->one(access_kind::read, at, 0, 8);
            sum += m.time(unit, a);
            at = a->data[0];
        }
        return sum / lines;
    };
    chase(m, base + 0x10000);
    chase(m, base + 0x10000, 1);
    CHECK(walk(0) > l2_hit + row_hit - 1e-9);
    CHECK(walk(0) == l1_hit);
    CHECK(walk(1) == l2_hit);
    CHECK(walk(1) == l1_hit);
    CHECK(at == base);
}

TEST_CASE("translation costs what its parameters add up to") {
    auto& m = fresh();
    const std::uint64_t base = 0x8000'0000;
    m.map_range(base, 0x200000, 0x200000);
    const double shared_tlb = static_cast<double>(p.l2_tlb.latency), walk = static_cast<double>(p.gmmu.latency);
    for (std::uint64_t page = 0; page < 8; ++page) chase(m, base + page * 4096 + page * 128);
    const auto hits = m.system.l2_tlb.hits.value();
    // L1 TLB: 4 entries, L2 TLB 4 sets of 4. The first pages have left the L1 TLB. Lines that are in L1:
    CHECK(chase(m, base) == l1_hit + shared_tlb);
    CHECK(m.system.l2_tlb.hits.value() == hits + 1);
    CHECK(chase(m, base) == l1_hit);
    // A page that was never used: the walk cache leads to the last level, whose line (8 entries) is in L2.
    const auto reads = m.system.gmmu.reads.value();
    chase(m, base + 9 * 4096);
    CHECK(m.system.gmmu.reads.value() == reads + 1);
    CHECK(m.system.gmmu.walk_latency.percentile(0.0) / 1000 > walk);
    m.system.invalidate_translations(1);
    // Nothing known: four reads, all of lines in L2; the data are in L1.
    CHECK(chase(m, base) == l1_hit + shared_tlb + walk + 4 * l2_round);
    CHECK(m.system.gmmu.reads.value() == reads + 5);
    // The walk cache knows the last table: one read.
    CHECK(chase(m, base + 4096 + 128) == l1_hit + shared_tlb + walk + l2_round);
}

TEST_CASE("a walk is on the read critical path if a load or an instruction fetch waits for it") {
    auto& m = fresh();
    const std::uint64_t base = 0x8000'0000;
    m.map_range(base, 0x200000, 0x200000);
    const auto& gmmu = m.system.gmmu;
    std::uint64_t page = 0;
    struct figures {
        std::uint64_t walks, critical;
    };
    /// Of accesses that are issued at once, by one unit each, to a page that was never used.
    const auto walked = [&](std::initializer_list<std::pair<unsigned, access_kind>> accesses) {
        const figures before{gmmu.walks.value(), gmmu.read_critical.value()};
        const auto address = base + 4096 * page++;
        for (const auto& [unit, kind] : accesses) {
            auto& client = *m.clients[unit];
            client.memory.issue(client.one(kind, address));
        }
        m.run();
        CHECK(gmmu.walks.value() == before.walks + 1);
        return gmmu.read_critical.value() - before.critical;
    };
    CHECK(walked({{0, access_kind::write}}) == 0);
    CHECK(walked({{0, access_kind::read}}) == 1);
    CHECK(walked({{0, access_kind::atomic}}) == 1);  // it brings a value back
    CHECK(walked({{0, access_kind::load_reserved}}) == 1);
    // A load that joins those that wait for a store's walk, in its own TLB or in the shared one.
    CHECK(walked({{0, access_kind::write}, {0, access_kind::write}}) == 0);
    CHECK(walked({{0, access_kind::write}, {0, access_kind::read}}) == 1);
    CHECK(walked({{0, access_kind::write}, {1, access_kind::read}}) == 1);
    CHECK(walked({{0, access_kind::write}, {1, access_kind::write}}) == 0);
    // Past the TLBs of units: instruction fetches, and the copy engine.
    struct : translation_client {
        unsigned heard = 0;
        void translated(std::uint64_t, std::uint64_t, memory_fault, std::uint64_t) override { ++heard; }
    } other;
    for (const unsigned access : {GPU_PTE_EXECUTE, GPU_PTE_READ}) {
        const auto before = gmmu.read_critical.value();
        m.system.l2_tlb.translate(1, base + 4096 * page++, access, other, 0);
        m.run();
        CHECK(gmmu.read_critical.value() - before == (access == GPU_PTE_EXECUTE ? 1 : 0));
    }
    CHECK(other.heard == 2);
}
