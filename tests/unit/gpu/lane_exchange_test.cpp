// SPDX-License-Identifier: Apache-2.0
// Lanes of a wavefront exchange values, vote and wait for each other; how long that takes.
#include "lane_bench.h"

#include "../riscv/assembler.h"
#include "abi/gpu_isa.h"

using namespace fabricvp;
using namespace fabricvp::gpu;
using namespace assembler;

namespace {

constexpr std::uint64_t out = lane_bench::data + 4096, memory_words = lane_bench::data + (8 << 20);

dispatch prepare(const std::string& name, std::uint64_t value = 0) {
    auto& b = lane_bench::restart();
    b.load_file(std::string(FABRICVP_FIRMWARE_DIR) + "/test_exchange.elf");
    b.memory.at<std::uint64_t>(b.data) = out;
    b.memory.at<std::uint64_t>(b.data + 8) = memory_words;
    b.memory.at<std::uint64_t>(b.data + 16) = value;
    auto what = b.kernel(name, b.data);
    what.grid = what.group = {64, 1, 1};
    return what;
}

std::uint64_t result(unsigned n) { return lane_bench::instance().memory.at<std::uint64_t>(out + 8 * n); }

constexpr word lanes(unsigned operation) { return GPU_OPCODE | GPU_FUNCT_LANES << 12 | operation << 25; }
word ballot(unsigned rd, unsigned rs1) { return r_type(lanes(GPU_LANES_BALLOT), rd, rs1, 0); }
word shuffle_w(unsigned rd, unsigned rs1, unsigned rs2) { return r_type(lanes(GPU_LANES_SHUFFLE_W), rd, rs1, rs2); }
word shuffle_d(unsigned rd, unsigned rs1, unsigned rs2) { return r_type(lanes(GPU_LANES_SHUFFLE_D), rd, rs1, rs2); }

/// Cycles of a loop's turn around `body`, of which two instructions are the loop's own.
double turn_cycles(const std::vector<word>& body, std::uint32_t items = 64) {
    double times[2];
    for (const int turns : {100, 300}) {
        auto& b = lane_bench::restart();
        program p(GPU_CODE_BASE);
        p << csrr(t1, GPU_CSR_LANE) << li(t0, turns);
        const auto top = p.here();
        p << body << addi(t0, t0, -1);
        p << bne(t0, zero, static_cast<int>(top) - static_cast<int>(p.here())) << word{GPU_OPCODE};
        b.load(p.words());
        const auto begin = b.timeline.now();
        REQUIRE_FALSE(b.run(b.words(items, items)).aborted);
        times[turns == 300] = static_cast<double>(b.timeline.now() - begin) / 1000;
    }
    return (times[1] - times[0]) / 200;
}

}  // namespace

TEST_CASE("lanes see those that are with them, and themselves in place of others") {
    REQUIRE_FALSE(lane_bench::instance().run(prepare("inactive")).aborted);
    std::uint64_t thirds = 0, fours = 0;
    for (unsigned i = 0; i < 64; i += 3) {
        thirds |= std::uint64_t{1} << i;
        if (i & 4) fours |= std::uint64_t{1} << i;
    }
    for (std::uint64_t i = 0; i < 64; ++i) {
        INFO("lane " << i);
        const auto at = static_cast<unsigned>(i) * 8;
        CHECK(result(at + 7) == ~std::uint64_t{0});
        if (i % 3) {
            CHECK(result(at) == ~thirds);
            CHECK(result(at + 1) == ~thirds);
            continue;
        }
        const bool last = i + 3 >= 64;
        CHECK(result(at) == thirds);
        CHECK(result(at + 1) == fours);
        CHECK(result(at + 2) == i + (std::uint64_t{1} << 40));
        CHECK(result(at + 3) == (last ? i : i + 3) + (std::uint64_t{1} << 40));
        CHECK(result(at + 4) == (last ? i : i + 3) - 100);
        CHECK(result(at + 5) == i);
        CHECK(result(at + 6) == 0xffffffff80000003);
    }
    CHECK(lane_bench::instance().statistic(".lds.shuffles") == 6);
    CHECK(lane_bench::instance().statistic(".lds.accesses") == 0);
}

TEST_CASE("lanes wait for lanes at other places") {
    REQUIRE_FALSE(lane_bench::instance().run(prepare("wait_anywhere")).aborted);
    for (unsigned i = 0; i < 64; ++i) CHECK(result(i) == (i ^ 1));
}

TEST_CASE("halves of a wavefront wait for their own lanes") {
    REQUIRE_FALSE(lane_bench::instance().run(prepare("halves")).aborted);
    for (unsigned i = 0; i < 64; ++i) CHECK(result(i) == 15 * (i < 32 ? 31 * 16 : 31 * 16 + 32 * 32));
}

TEST_CASE("lanes that have ended are not waited for") {
    REQUIRE_FALSE(lane_bench::instance().run(prepare("ended")).aborted);
    for (unsigned i = 0; i < 64; ++i) CHECK(result(i) == (i % 5 == 2 || i % 5 == 3 ? 0 : 61));
}

TEST_CASE("lanes that can never come are a fault") {
    for (const char* name : {"other_place", "other_mask", "at_barrier"}) {
        INFO(name);
        auto what = prepare(name, 5);
        auto& b = lane_bench::instance();
        const auto& run = b.run(what);
        REQUIRE(run.aborted);
        CHECK(run.fault.kind == lane_fault::barrier);
        const auto at = b.memory.at<std::uint32_t>(lane_bench::image + run.fault.pc - GPU_CODE_BASE);
        CHECK((at & 0xfff07fff) == lanes(GPU_LANES_SYNC));
        REQUIRE_FALSE(b.run(prepare("fine")).aborted);
        CHECK(result(63) == ~std::uint64_t{0});
    }
}

TEST_CASE("votes take an instruction, shuffles the way through the LDS") {
    CHECK(turn_cycles(std::vector<word>(8, ballot(t3, t1))) == 8 * 4 + 8);
    // Issue, passes, latency, use, loop.
    CHECK(turn_cycles({shuffle_w(t3, t1, t1), add(t4, t4, t3)}) == 4 + 2 + 64 + 4 + 8);
    CHECK(turn_cycles({shuffle_d(t3, t1, t1), add(t4, t4, t3)}) == 4 + 4 + 64 + 4 + 8);
    // A lane that is alone needs one pass.
    CHECK(turn_cycles({shuffle_w(t3, t1, t1), add(t4, t4, t3)}, 1) == 4 + 1 + 64 + 4 + 8);
    // Sixteen wavefronts share one crossbar; its queue is full at times.
    std::vector<word> many;
    for (unsigned i = 0; i < 8; ++i) many.push_back(shuffle_d(t3 + i % 4, t1, t1));
    CHECK(turn_cycles(many, 1024) == Approx(16 * 8 * 4).epsilon(0.01));
}
