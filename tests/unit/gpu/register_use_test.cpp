// SPDX-License-Identifier: Apache-2.0
// How many registers a kernel counts as, and how many of its wavefronts a compute unit then holds.
#include "lane_bench.h"

#include "../riscv/assembler.h"
#include "abi/gpu_isa.h"
#include "gpu/lanes/register_use.h"

using namespace fabricvp;
using namespace fabricvp::gpu;
using namespace assembler;

namespace {

std::uint32_t registers_of(std::vector<word> words) {
    words.push_back(GPU_OPCODE);
    words.resize(control_flow_graph::page_instructions);
    const code_reader read = [&](std::uint32_t number, std::uint8_t* to) {
        if (number != 0) return false;
        std::memcpy(to, words.data(), control_flow_graph::page_bytes);
        return true;
    };
    return count_registers(control_flow_graph(read, 0));
}

/// Computes `count` integers of 64 bits from the lane's number, and waits in a loop.
std::vector<word> program_with(unsigned count, bool doubles = false) {
    program p(GPU_CODE_BASE);
    p << csrr(reg(3), GPU_CSR_LOCAL_ID_X);
    for (unsigned n = 0; n < count; ++n) p << slli(reg(3 + n), reg(3), 8);
    if (doubles)
        for (unsigned n = 0; n < 32; ++n) p << (0x02000053u | n << 7 | n << 15 | n << 20);  // fadd.d
    p << li(t0, 1000);
    const auto top = p.here();
    p << addi(t0, t0, -1) << bne(t0, zero, static_cast<int>(top) - static_cast<int>(p.here()));
    p << word{GPU_OPCODE};
    return p.words();
}

/// Wavefronts alive on all compute units when as many as there are places have started.
unsigned alive(const std::vector<word>& words, std::uint32_t group) {
    auto& b = lane_bench::restart();
    b.load(words);
    const auto number = b.dispatches.submit(b.words(64 * 200, group));
    b.timeline.run_until(b.timeline.now() + 2'000'000);
    unsigned n = 0;
    for (const auto& u : b.units) n += u->slots() - u->free_slots();
    b.dispatches.abort(number);
    b.timeline.run_until(b.timeline.now() + 10'000'000);
    REQUIRE(b.done.size() == 1);
    return n / static_cast<unsigned>(b.units.size());
}

}  // namespace

TEST_CASE("registers that differ between lanes count, twice if they are of 64 bits") {
    CHECK(registers_of({}) == 0);
    CHECK(registers_of({csrr(t1, GPU_CSR_LOCAL_ID_X)}) == 1);
    CHECK(registers_of({csrr(t1, GPU_CSR_LOCAL_ID_X), slli(t2, t1, 2)}) == 1 + 2);
    CHECK(registers_of({csrr(t1, GPU_CSR_LANE), addi(t2, t1, 1), i_type(0x1b, t3, t2, 1)}) == 3);  // addiw
    // Arguments, identifiers of the work-group, and what is computed from them.
    CHECK(registers_of({ld(t1, a0, 0), csrr(t2, GPU_CSR_GROUP_ID_X), add(t3, t1, t2), lw(t4, t3, 0)}) == 0);
    // An element of an array by local id.
    CHECK(registers_of({ld(t1, a0, 0), csrr(t2, GPU_CSR_LOCAL_ID_X), slli(t2, t2, 2), add(t3, t1, t2),
                        lw(t4, t3, 0)}) == 2 + 2 + 1);
    CHECK(registers_of({amoadd_w(t1, zero, a0)}) == 1);                       // each lane gets another value
    CHECK(registers_of({ld(t1, sp, 8)}) == 2);                                // spilled
    CHECK(registers_of({0x43u | 2u << 7 | 1u << 20 | 2u << 27}) == 3);        // fmadd.s f2 = f0 × f1 + f2
    CHECK(registers_of({0x02000043u | 2u << 7 | 1u << 20 | 2u << 27}) == 6);  // fmadd.d
}

TEST_CASE("a compute unit holds as many wavefronts as its registers let it") {
    CHECK(alive(program_with(1), 64) == 40);
    CHECK(alive(program_with(12), 64) == 40);  // 24 registers of 256
    CHECK(alive(program_with(13), 64) == 36);  // 26: allocated by 4
    CHECK(alive(program_with(20), 64) == 24);
    CHECK(alive(program_with(26), 64) == 16);
    CHECK(alive(program_with(26), 256) == 16);
    auto& b = lane_bench::instance();
    const auto all = snapshot_statistics();
    CHECK(all.at("dispatcher.limited_by_registers") == 1);
    CHECK(all.at("dispatcher.waits_for_registers") == 1);
    CHECK(b.done[0].register_wavefronts == 16 * b.units.size());
}

TEST_CASE("a work-group whose registers a compute unit does not have runs alone") {
    CHECK(alive(program_with(26, true), 64) == 8);
    CHECK(alive(program_with(26, true), 1024) == 16);
    auto& b = lane_bench::restart();
    b.load(program_with(26, true));
    CHECK_FALSE(b.run(b.words(1024 * 8, 1024), 1'000'000'000'000).aborted);
}

TEST_CASE("dispatches with many registers leave what they took") {
    auto& b = lane_bench::restart();
    b.load(program_with(26));
    for (int i = 0; i < 3; ++i) CHECK_FALSE(b.run(b.words(64 * 200), 1'000'000'000'000).aborted);
    CHECK(alive(program_with(1), 64) == 40);
}
