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
                        ticks hit_time = 0) {
    double times[2];
    for (const int iterations : {100, 300}) {
        auto& b = lane_bench::restart();
        b.memory.hit_time = hit_time;
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

TEST_CASE("wavefronts hide each other's loads") {
    const std::vector<word> base{lui(t2, 0x40000), slli(t2, t2, 1)};
    const std::vector<word> body{lw(t3, t2, 1024), add(t4, t4, t3)};
    const double alone = iteration_cycles(base, body, 64, 200'000), four = iteration_cycles(base, body, 1024, 200'000);
    CHECK(four < alone * 1.1);
}
