// SPDX-License-Identifier: Apache-2.0
// Lanes of a wavefront exchange values, vote and wait for each other; how long that takes.
#include "lane_bench.h"

#include "../riscv/assembler.h"
#include "abi/gpu_isa.h"
#include "abi/kernel_descriptor.h"

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
double turn_cycles(const std::vector<word>& body, std::uint32_t items = 64, std::uint32_t flags = 0) {
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
        auto what = b.words(items, items);
        what.flags = flags;
        REQUIRE_FALSE(b.run(what).aborted);
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

TEST_CASE("wavefronts of 32 lanes issue as 32 lanes") {
    constexpr auto half = KERNEL_WAVEFRONT_32;
    CHECK(turn_cycles(std::vector<word>(8, ballot(t3, t1)), 64, half) == 8 * 2 + 4);
    CHECK(turn_cycles({r_type(0x02000033, t3, t1, t1)}, 64, half) == 8 + 4);  // mul
    CHECK(turn_cycles({shuffle_w(t3, t1, t1), add(t4, t4, t3)}, 32, half) == 2 + 1 + 64 + 2 + 4);
    // Eight wavefronts on four SIMD units.
    CHECK(turn_cycles(std::vector<word>(8, ballot(t3, t1)), 256, half) == 2 * (8 * 2 + 4));
}

TEST_CASE("a compute unit runs wavefronts of 32 and of 64 lanes together") {
    auto small = prepare("places");
    auto& b = lane_bench::instance();
    auto large = small;
    large.kernarg = b.data + 64;
    b.memory.at<std::uint64_t>(large.kernarg) = out + 8 * 4096;
    small.flags = KERNEL_WAVEFRONT_32;
    small.grid = large.grid = {100, 3, 1};
    small.group = large.group = {50, 3, 1};
    b.dispatches.submit(small);
    b.run(large);
    b.timeline.run_until(b.timeline.now() + 1'000'000'000);
    REQUIRE(b.done.size() == 2);
    for (const unsigned size : {32u, 64u})
        for (unsigned group = 0; group < 2; ++group)
            for (unsigned i = 0; i < 150; ++i) {
                INFO(size << " lanes, item " << i << " of group " << group);
                const auto at = (size == 64 ? 4096 : 0) + (group * 150 + i) * 4;
                const auto count = std::min(size, 150 - i / size * size);
                CHECK(result(at) == i % size);
                CHECK(result(at + 1) == i / size);
                CHECK(result(at + 2) == ~std::uint64_t{0} >> (64 - count));
                CHECK(result(at + 3) == (i % size + 1 < count ? i + 1 : i));
            }
}
