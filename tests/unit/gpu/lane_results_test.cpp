// SPDX-License-Identifier: Apache-2.0
// Compute units whose instructions occupy a SIMD unit for fewer cycles than their results take, as an SMX of Kepler has
// them: chains wait, independent instructions and other wavefronts do not.
#include "lane_bench.h"

#include "../riscv/assembler.h"
#include "abi/gpu_isa.h"

using namespace fabricvp;
using namespace fabricvp::gpu;
using namespace assembler;

namespace {

constexpr int interval = 2, latency = 9, units = 6;

const bool set_up = [] {
    auto& p = lane_bench::unit_params();
    p.simd_units = units;
    p.wavefront_slots = 11;
    p.wavefronts = 64;
    p.slot_lanes = 32;
    p.issue.alu = p.issue.branch = p.issue.jump = p.issue.floating = p.issue.load = p.issue.store = p.issue.csr =
        interval;
    p.issue.double_precision = 3 * interval;
    p.result_latency.alu = p.result_latency.branch = p.result_latency.floating = latency;
    return true;
}();

constexpr word fmadd_s = 0x00000043, fmadd_d = 0x02000043;
constexpr word fma(word base, unsigned rd) {  // rd += f0 * f1
    return base | rd << 27 | 1u << 20 | 0u << 15 | rd << 7;
}

/// A loop around `body`; t0 counts.
std::vector<word> loop(const std::vector<word>& body, int iterations) {
    program p(GPU_CODE_BASE);
    p << li(t0, iterations);
    const auto top = p.here();
    p << body << addi(t0, t0, -1);
    p << bne(t0, zero, static_cast<int>(top) - static_cast<int>(p.here()));
    p << word{GPU_OPCODE};
    return p.words();
}

/// Cycles of an iteration, with `groups` work-groups of `items` on each compute unit.
double iteration_cycles(const std::vector<word>& body, std::uint32_t items = 64, std::uint32_t groups = 0) {
    double times[2];
    for (const int iterations : {100, 300}) {
        auto& b = lane_bench::restart();
        b.load(loop(body, iterations));
        const auto all = groups ? groups * static_cast<std::uint32_t>(b.units.size()) : 1;
        const auto begin = b.timeline.now();
        REQUIRE_FALSE(b.run(b.words(all * items, items)).aborted);
        times[iterations == 300] = static_cast<double>(b.timeline.now() - begin) / 1000;
    }
    return (times[1] - times[0]) / 200;
}

// The loop's counter issues behind the body, its branch when it has counted, the next iteration when it has branched.
constexpr int turn = interval + latency + latency;

}  // namespace

TEST_CASE("a chain of instructions takes their latency") {
    CHECK(iteration_cycles(std::vector<word>(30, addi(t3, t3, 1))) == 29 * latency + turn);
    CHECK(iteration_cycles(std::vector<word>(30, fma(fmadd_s, 2))) == 29 * latency + turn);
    CHECK(iteration_cycles({addi(t3, t3, 1), add(t4, t3, zero), add(t5, zero, t4)}) == 2 * latency + turn);
    // Longer than the latency of others: so long.
    CHECK(iteration_cycles(std::vector<word>(30, r_type(0x02000033, t3, t3, t3))) == 29 * 16 + 16 + latency * 2);
}

TEST_CASE("independent instructions of a wavefront issue one after the other") {
    std::vector<word> integer, floats, doubles;
    for (int i = 0; i < 30; ++i) {
        integer.push_back(addi(std::array{t1, t2, t3, t4, t5, t6}[i % 6], zero, 1));
        floats.push_back(fma(fmadd_s, 2 + i % 5));
        doubles.push_back(fma(fmadd_d, 2 + i % 5));
    }
    CHECK(iteration_cycles(integer) == 29 * interval + turn);
    CHECK(iteration_cycles(floats) == 29 * interval + turn);
    CHECK(iteration_cycles(doubles) == 29 * 3 * interval + 3 * interval + latency * 2);
    // Immediate operands are no registers: these read t1 only, whatever number the immediate has.
    std::vector<word> immediate;
    for (int i = 0; i < 30; ++i) immediate.push_back(addi(std::array{t2, t3, t4, t5, t6}[i % 5], t1, 6 + i));
    CHECK(iteration_cycles(immediate) == 29 * interval + turn);
}

TEST_CASE("other wavefronts issue while one waits for a result") {
    const std::vector<word> chain(30, addi(t3, t3, 1));
    const double alone = 29 * latency + turn, issued = 32 * interval;
    CHECK(iteration_cycles(chain, units * 64) == alone);  // one on each unit
    CHECK(iteration_cycles(chain, 768) == Approx(alone).epsilon(0.02));
    CHECK(iteration_cycles(chain, 1024) == Approx(alone).epsilon(0.02));  // three on some
    // Six on some units: more than the latency hides.
    CHECK(iteration_cycles(chain, 1024, 2) == Approx(6 * issued).epsilon(0.02));
    auto& b = lane_bench::instance();
    CHECK(b.units[0]->slots() == 64);
}

TEST_CASE("slots of 32 lanes hold as many lanes in wavefronts of 32 as in those of 64") {
    const unsigned lanes = GENERATE(32u, 64u);
    auto& b = lane_bench::restart();
    b.load(loop({addi(t3, t3, 1)}, 1000));
    auto what = b.words(4 * 1024 * static_cast<std::uint32_t>(b.units.size()), 256);
    what.scratch_bytes = 0;
    if (lanes == 32) what.flags = KERNEL_WAVEFRONT_32;
    REQUIRE(b.dispatches.rejection_reason(what) == nullptr);
    b.dispatches.submit(what);
    std::uint64_t live = 0;
    for (int i = 0; i < 100; ++i) {
        b.timeline.run_until(b.timeline.now() + 10'000);
        std::uint64_t now = 0;
        for (unsigned s = 0; s < b.units[0]->slots(); ++s) now += b.units[0]->slot(s).state != wavefront_state::free;
        live = std::max(live, now);
        CHECK((b.units[0]->slots() - b.units[0]->free_slots()) * 32 == now * lanes);
    }
    CHECK(live * lanes == 2048);
    while (b.done.empty()) b.timeline.run_until(b.timeline.now() + 1'000'000);
    CHECK_FALSE(b.done[0].aborted);
}

TEST_CASE("results arrive late, loads of memory later still") {
    auto& b = lane_bench::restart();
    b.memory.hit_time = 200'000;
    program p(GPU_CODE_BASE);
    p << ld(t2, a0, 0) << ld(t1, t2, 0) << csrr(t0, GPU_CSR_CYCLE) << addi(t1, t1, 1) << addi(t1, t1, 1);
    p << csrr(t3, GPU_CSR_CYCLE) << addi(t1, t1, 1) << csrr(t4, GPU_CSR_CYCLE);
    p << add(t3, t3, zero) << add(t3, t3, zero) << csrr(t5, GPU_CSR_CYCLE);
    for (const auto t : {t3, t4, t5}) p << ::assembler::sub(t, t, t0);
    p << sd(t3, t2, 0) << sd(t4, t2, 8) << sd(t5, t2, 16) << word{GPU_OPCODE};
    b.load(p.words());
    const auto result = lane_bench::data + 4096;
    b.memory.at<std::uint64_t>(lane_bench::data) = result;
    REQUIRE_FALSE(b.run(b.words(1, 1)).aborted);
    const auto at = [&](int n) { return b.memory.at<std::uint64_t>(result + 8 * n); };
    CHECK(at(0) >= 200 - 2 + latency + interval);  // the first use of the load waited, the second for the first
    CHECK(at(0) <= 200 + latency + 2 * interval);
    CHECK(at(1) - at(0) == latency);  // the third use came a latency behind the second
    CHECK(at(2) - at(1) == interval + latency + interval);
}

TEST_CASE("statistics: units are busy while they issue, waiting is counted apart") {
    const std::vector<word> chain(30, addi(t3, t3, 1));
    auto& b = lane_bench::restart();
    b.load(loop(chain, 100));
    REQUIRE_FALSE(b.run(b.words(64)).aborted);
    const double busy = (1 + 100 * 32) * interval + 4;  // the end of the kernel takes 4 cycles
    CHECK(b.statistic("simd_busy") == Approx(busy * 1000).epsilon(0.01));
    const double waited = 100 * (29 * latency + turn - 32 * interval);
    CHECK(b.statistic("stall_result") == Approx(waited * 1000).epsilon(0.01));
}

TEST_CASE("a dispatch that is aborted while wavefronts wait for results ends, and the next one runs") {
    for (unsigned seed = 1; seed < 20; ++seed) {
        auto& b = lane_bench::restart(seed);
        b.load(loop(std::vector<word>(30, addi(t3, t3, 1)), 100'000));
        const auto number = b.dispatches.submit(b.words(64 * 1024, 1024));
        b.timeline.run_until(b.timeline.now() + 3'000'000 + seed * 17'321);
        b.dispatches.abort(number);
        b.timeline.run_until(b.timeline.now() + 10'000'000);
        REQUIRE(b.done.size() == 1);
        CHECK(b.done[0].aborted);
        b.load(loop({addi(t3, t3, 1)}, 10));
        CHECK_FALSE(b.run(b.words(64 * 1024, 1024)).aborted);
    }
}
