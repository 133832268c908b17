// SPDX-License-Identifier: Apache-2.0
// How long wavefronts take: issue cycles, turns on a SIMD unit, bank conflicts, loads that overlap with what follows.
#include "lane_bench.h"

#include "../riscv/assembler.h"
#include "abi/gpu_isa.h"

using namespace fabricvp;
using namespace fabricvp::gpu;
using namespace assembler;

namespace {

/// Cycles that a turn of a loop around `body` takes in a work-group of `items`, from the difference of two runs; t0
/// counts turns. Beside the body a turn has two instructions.
double iteration_cycles(const std::vector<word>& before, const std::vector<word>& body, std::uint32_t items = 64,
                        ticks hit_time = 0, bool other_gpus = false, ticks delay = 0) {
    double times[2];
    for (const int iterations : {100, 300}) {
        auto& b = lane_bench::restart();
        b.memory.hit_time = hit_time;
        b.memory.other_gpus = other_gpus;
        b.memory.shortest = b.memory.longest = delay;
        program p(GPU_CODE_BASE);
        p << before << li(t0, iterations);
        const auto top = p.here();
        p << body << addi(t0, t0, -1);
        p << bne(t0, zero, static_cast<int>(top) - static_cast<int>(p.here()));
        p << word{GPU_OPCODE};
        b.load(p.words());
        auto what = b.words(items, items);
        what.lds_bytes = 16384;
        const auto begin = b.timeline.now();
        REQUIRE_FALSE(b.run(what).aborted);
        times[iterations == 300] = static_cast<double>(b.timeline.now() - begin) / 1000;
    }
    return (times[1] - times[0]) / 200;
}

/// t2 = local memory + local id << shift
std::vector<word> local_address(int shift) {
    return {csrr(t1, GPU_CSR_LOCAL_ID_X), slli(t1, t1, shift), lui(t2, GPU_LDS_BASE >> 12), add(t2, t2, t1)};
}

constexpr word barrier = GPU_OPCODE | GPU_FUNCT_BARRIER << 12;

/// Within the work-group.
constexpr word group_fence(word kind) {
    return GPU_OPCODE | GPU_FUNCT_FENCE << 12 | (kind | GPU_SCOPE_WORK_GROUP) << 20;
}
constexpr word work_group_fence = group_fence(GPU_FENCE_RELEASE);

}  // namespace

TEST_CASE("an instruction occupies its SIMD unit for four cycles") {
    const std::vector<word> body(30, addi(t3, t3, 1));
    CHECK(iteration_cycles({}, body) == 32 * 4);
    CHECK(iteration_cycles({}, body, 256) == 32 * 4);      // a wavefront on each unit
    CHECK(iteration_cycles({}, body, 512) == 2 * 32 * 4);  // two share one
    CHECK(iteration_cycles({}, body, 1024) == 4 * 32 * 4);
    CHECK(iteration_cycles({}, {r_type(0x02000033, t3, t3, t3)}) == 16 + 8);  // mul
    CHECK(iteration_cycles({}, {r_type(0x02004033, t3, t3, t3)}) == 64 + 8);  // div
}

TEST_CASE("diverged lanes take the time of both sides") {
    // Even lanes skip eight instructions, odd ones eight others.
    std::vector<word> body{beq(t4, zero, 4 * 10)};
    body.insert(body.end(), 8, addi(t3, t3, 1));
    body.push_back(j(4 * 9));
    body.insert(body.end(), 8, addi(t3, t3, 2));
    const std::vector<word> halves{csrr(t4, GPU_CSR_LANE), i_type(0x7013, t4, t4, 1)};
    CHECK(iteration_cycles(halves, body) == 4 * (1 + 9 + 8 + 2));
    CHECK(iteration_cycles({li(t4, 1)}, body) == 4 * (1 + 9 + 2));
    CHECK(iteration_cycles({li(t4, 0)}, body) == 4 * (1 + 8 + 2));
}

TEST_CASE("local memory: latency, and passes by conflict") {
    const std::vector<word> load{lw(t3, t2, 0), add(t2, t2, t3)};
    const int fixed = 4 + 64 + 4 + 8;  // issue, latency, use, loop
    CHECK(iteration_cycles(local_address(2), load) == fixed + 2);
    CHECK(iteration_cycles(local_address(3), load) == fixed + 4);
    CHECK(iteration_cycles(local_address(7), load) == fixed + 64);
    CHECK(iteration_cycles({lui(t2, GPU_LDS_BASE >> 12)}, load) == fixed + 2);  // one word for all
    CHECK(iteration_cycles(local_address(3), {ld(t3, t2, 0), add(t2, t2, t3)}) == fixed + 4);
    CHECK(iteration_cycles({lui(t2, GPU_LDS_BASE >> 12)}, {amoadd_w(t3, zero, t2), add(t2, t2, t3)}) == fixed + 64);
    CHECK(lane_bench::instance().statistic("compute_unit0.lds.bank_conflicts") == 300 * 62);
}

TEST_CASE("local stores and atomics without a result take the passes of loads") {
    const auto stores = [](int shift) {
        return iteration_cycles(local_address(shift), std::vector<word>(8, sw(t3, t2, 0)));
    };
    const int issue = 8 * 4 + 8;  // and the loop
    CHECK(stores(2) == issue);    // eight times two passes, beside the issue
    CHECK(stores(3) == issue);
    CHECK(stores(4) == 8 * 8);
    CHECK(stores(5) == 8 * 16);
    CHECK(stores(6) == 8 * 32);
    CHECK(stores(7) == 8 * 64);
    // Sixteen wavefronts share one LDS, whatever the SIMD units could issue.
    CHECK(iteration_cycles(local_address(2), std::vector<word>(8, sw(t3, t2, 0)), 1024) ==
          Approx(16 * 8 * 2).epsilon(0.01));
    const std::vector<word> one_word{lui(t2, GPU_LDS_BASE >> 12)};
    CHECK(iteration_cycles(one_word, std::vector<word>(8, amoadd_w(zero, t3, t2))) == 8 * 64);
}

TEST_CASE("the LDS is never busy for longer than a dispatch lasts") {
    for (const int shift : {2, 5, 7}) {
        auto& b = lane_bench::restart();
        program p(GPU_CODE_BASE);
        p << local_address(shift);
        for (int i = 0; i < 84; ++i) p << sw(t3, t2, 0);
        p << word{GPU_OPCODE};
        b.load(p.words());
        auto what = b.words(1024, 1024);
        what.lds_bytes = 65536;
        what.grid = {1024, 1, 1};
        if (shift == 7) what.group = what.grid = {512, 1, 1};  // as much as the LDS has
        const auto begin = b.timeline.now();
        REQUIRE_FALSE(b.run(what).aborted);
        const auto cycles = static_cast<double>(b.timeline.now() - begin) / 1000;
        const double passes = 84.0 * (what.grid[0] / 64) * (shift == 7 ? 64 : shift == 5 ? 16 : 2);
        CHECK(b.statistic("lds.busy") == passes);
        CHECK(cycles >= passes);
        CHECK(cycles < passes + 1000);
    }
}

TEST_CASE("wavefronts of a work-group start one after the other, and work-groups as slowly") {
    auto& b = lane_bench::restart();
    program p(GPU_CODE_BASE);  // stores when each lane started
    p << csrr(t0, GPU_CSR_CYCLE) << lui(t2, 0x40000) << slli(t2, t2, 1) << lui(t1, 0x100) << add(t2, t2, t1);
    p << csrr(t1, GPU_CSR_LOCAL_ID_X) << csrr(t3, GPU_CSR_GROUP_ID_X) << slli(t3, t3, 10) << add(t1, t1, t3);
    p << slli(t1, t1, 3) << add(t2, t2, t1) << sd(t0, t2, 0) << word{GPU_OPCODE};
    b.load(p.words());
    const auto start_of = [&](unsigned group, unsigned wavefront) {
        return static_cast<std::int64_t>(
            b.memory.at<std::uint64_t>(lane_bench::data + (group * 1024 + wavefront * 64) * 8));
    };
    for (const auto& [items, interval] : {std::pair{256u, 4}, {128u, 4}, {1024u, 16}}) {
        auto what = b.words(2 * items, items);
        b.run(what);
        what.acquire = false;  // the code is there
        b.run(what);
        if (b.units.size() > 1) CHECK(start_of(1, 0) - start_of(0, 0) == interval);
        for (unsigned w = 1; w < std::min(items / 64, 4u); ++w) CHECK(start_of(0, w) - start_of(0, 0) == w);
    }
}

TEST_CASE("the cycle counter is that of its instruction, not of the segment") {
    auto& b = lane_bench::restart();
    program p(GPU_CODE_BASE);
    p << ld(t2, a0, 0) << csrr(t0, GPU_CSR_CYCLE);
    for (int i = 0; i < 5; ++i) p << addi(t3, t3, 1);
    p << csrr(t1, GPU_CSR_CYCLE) << sub(t1, t1, t0) << sd(t1, t2, 0) << word{GPU_OPCODE};
    b.load(p.words());
    const auto result = lane_bench::data + 4096;
    b.memory.at<std::uint64_t>(lane_bench::data) = result;
    REQUIRE_FALSE(b.run(b.words(1, 1)).aborted);
    CHECK(b.memory.at<std::uint64_t>(result) == 6 * 4);
}

TEST_CASE("SIMD units are never busy for longer than a region lasts") {
    auto& b = lane_bench::restart();
    program p(GPU_CODE_BASE);
    for (int i = 0; i < 400; ++i) p << r_type(0x02004033, t3, t3, t3);  // div: 64 cycles
    p << word{GPU_OPCODE};
    b.load(p.words());
    b.dispatches.submit(b.words(1024, 1024));
    const ticks step = 777'000;
    for (int i = 0; i < 40; ++i) {
        b.timeline.run_until(b.timeline.now() + step);
        const auto busy = b.statistic("simd_busy");
        CHECK(busy <= 4 * step);
        if (i > 3 && i < 30) CHECK(busy == 4 * step);
        restart_statistics();
    }
    b.timeline.run_until(b.timeline.now() + 1'000'000'000);
}

TEST_CASE("barriers wait for local stores") {
    const std::vector<word> both{sw(t3, t2, 0), barrier};
    CHECK(iteration_cycles(local_address(7), {barrier}) == 4 + 8);
    CHECK(iteration_cycles(local_address(7), both) == 64 + 4 + 8);
    // A fence for the work-group as well: what it publishes is in the LDS.
    CHECK(iteration_cycles(local_address(7), {sw(t3, t2, 0), work_group_fence}) == 64 + 8 + 4);
}

TEST_CASE("loads stall their first use, not their issue") {
    const std::vector<word> address{ld(t2, a0, 0)};  // zero; added to a global address
    const std::vector<word> base{lui(t2, 0x40000), slli(t2, t2, 1)};
    const int latency = 200;
    const auto with = [&](std::vector<word> body) { return iteration_cycles(base, body, 64, latency * 1000); };
    CHECK(with({lw(t3, t2, 1024), add(t4, t4, t3)}) == 4 + latency + 4 + 8);
    CHECK(with({lw(t3, t2, 1024), lw(t4, t2, 1028), lw(t5, t2, 1032), add(t6, t3, t4), add(t6, t6, t5)}) ==
          4 * 3 + latency - 4 + 8 + 8);
    CHECK(with({lw(t3, t2, 1024), addi(t4, t4, 1), addi(t4, t4, 1), add(t4, t4, t3)}) == 4 + latency + 4 + 8);
    // Never used, but its register is loaded again by the next turn.
    CHECK(with({lw(t3, t2, 1024)}) == latency + 4);
    // Stores do not stall; a fence waits for them.
    CHECK(with({sw(t3, t2, 1024)}) == 4 + 8);
}

TEST_CASE("a release within the work-group waits for stores where loads may overtake them") {
    const std::vector<word> base{lui(t2, 0x40000), slli(t2, t2, 1)}, body{sw(t3, t2, 1024), work_group_fence};
    const ticks delay = 200'000;
    const auto alone = iteration_cycles(base, body, 64, 0, false, delay);
    CHECK(alone == iteration_cycles(base, body));
    CHECK(alone == 4 + 4 + 8);
    CHECK(iteration_cycles(base, body, 64, 0, true, delay) == 200 + 4 + 8);  // from when the store has issued
    const std::vector<word> acquire{sw(t3, t2, 1024), group_fence(GPU_FENCE_ACQUIRE)};
    CHECK(iteration_cycles(base, acquire, 64, 0, true, delay) == alone);
}

TEST_CASE("wavefronts hide each other's loads") {
    const std::vector<word> base{lui(t2, 0x40000), slli(t2, t2, 1)};
    const std::vector<word> body{lw(t3, t2, 1024), add(t4, t4, t3)};
    const double alone = iteration_cycles(base, body, 64, 200'000), four = iteration_cycles(base, body, 1024, 200'000);
    CHECK(four < alone * 1.1);
}
