// SPDX-License-Identifier: Apache-2.0
// Self-modifying code, by every kind of writer.
#include "hart_bench.h"

using namespace fabricvp;
using namespace fabricvp::riscv;
using namespace assembler;

namespace {
constexpr std::uint64_t code = memory_base, function = memory_base + 0x2000;

/// Calls `function` for ever, counts calls in s0, keeps its result in s1.
void start_caller(hart_bench& b, hart& h) {
    b.load(program(code) << jalr(ra, a0, 0) << add(s1, a1, zero) << addi(s0, s0, 1) << j(-12));
    b.load(program(function) << li(a1, 1) << ret());
    h.set_x(a0, function);
    h.set_x(s0, 0);
    b.start(h, code);
    b.run(3 * microsecond);
    REQUIRE(h.x(s1) == 1);
}
}  // namespace

TEST_CASE("own stores to code take effect, with and without fence.i") {
    for (const bool fenced : {true, false}) {
        auto& b = hart_bench::restart();
        b.load(program(function) << li(a1, 1) << ret());
        program p(code);
        p << jalr(ra, a0, 0) << add(s2, a1, zero) << sw(t0, a0, 0) << (fenced ? fence_i : nop) << jalr(ra, a0, 0)
          << add(s3, a1, zero) << j(0);
        b.hart0.set_x(a0, function);
        b.hart0.set_x(t0, li(a1, 2));
        b.run_program(p);
        CHECK(b.hart0.x(s2) == 1);
        CHECK(b.hart0.x(s3) == 2);
    }
}

TEST_CASE("a store to the next instruction of the same block is seen") {
    auto& b = hart_bench::restart();
    program p(code);
    p << sw(t0, a0, 0) << nop << li(a1, 1) << j(0);
    b.hart0.set_x(a0, code + 8);
    b.hart0.set_x(t0, li(a1, 2));
    b.run_program(p);
    CHECK(b.hart0.x(a1) == 2);
    CHECK(b.csr(csr::minstret) >= 4);
}

TEST_CASE("foreign writers: memory, debugger, another hart, the bus") {
    auto& b = hart_bench::restart();
    start_caller(b, b.hart0);

    b.write(function, li(a1, 2), 4);
    b.run(2 * microsecond);
    CHECK(b.hart0.x(s1) == 2);

    const word three = li(a1, 3);
    CHECK(b.hart0.write_memory(function, &three, 4) == 4);
    b.run(2 * microsecond);
    CHECK(b.hart0.x(s1) == 3);

    b.load(program(code + 0x1000) << sw(t0, a0, 0) << j(0));
    b.hart1.set_x(a0, function);
    b.hart1.set_x(t0, li(a1, 4));
    b.start(b.hart1, code + 0x1000);
    b.run(5 * microsecond);
    CHECK(b.hart0.x(s1) == 4);

    b.memory.touch_by_device(function - memory_base, 4);
    const word five = li(a1, 5);
    b.memory.write(function - memory_base, &five, 4);
    b.run(2 * microsecond);
    CHECK(b.hart0.x(s1) == 5);
}

TEST_CASE("a hart that could write a page directly no longer can once another runs code there") {
    auto& b = hart_bench::restart();
    // Hart 1 stores to the function's page all the time, so it has a writable translation before code is decoded there.
    b.load(program(code + 0x1000) << sd(t0, a0, 64) << addi(t0, t0, 1) << beq(t1, zero, -8) << sw(t1, a0, 0)
                                  << li(t1, 0) << j(-20));
    b.hart1.set_x(a0, function);
    b.hart1.set_x(t1, 0);
    b.start(b.hart1, code + 0x1000);
    b.run(5 * microsecond);
    start_caller(b, b.hart0);
    b.hart1.set_x(t1, li(a1, 9));
    b.run(5 * microsecond);
    CHECK(b.hart0.x(s1) == 9);
    CHECK(b.read(function + 64) > 100);
}

TEST_CASE("data beside code does not disturb it, and pages without code become fast again") {
    auto& b = hart_bench::restart();
    start_caller(b, b.hart0);
    const auto page = (function - memory_base) >> 12;
    CHECK(b.memory.marks(page) == sparse_memory::decoded);
    const auto before = b.hart0.x(s0);
    b.write(function + 128, 5);
    b.run(2 * microsecond);
    CHECK(b.hart0.x(s0) > before);
    CHECK(b.memory.marks(page) == sparse_memory::decoded);
    b.hart0.halt();
    // The code goes away: the page is overwritten by the other hart, line by line.
    b.load(program(code + 0x1000) << sd(zero, a0, 0) << addi(a0, a0, 8) << bne(a0, a1, -8) << j(0));
    b.hart1.set_x(a0, function);
    b.hart1.set_x(a1, function + 4096);
    b.start(b.hart1, code + 0x1000);
    b.run(10 * microsecond);
    CHECK(b.memory.marks(page) == 0);
    // And the code page of the other hart, which still runs there, keeps its mark though a store hits beside it.
    const auto kept = 1u;
    CHECK(b.memory.marks(kept) == sparse_memory::decoded);
    b.load(program(code + 0x3000) << sd(zero, a0, 0) << j(0));
    b.hart0.set_x(a0, code + 0x1800);
    b.start(b.hart0, code + 0x3000);
    b.run(3 * microsecond);
    CHECK(b.memory.marks(kept) == sparse_memory::decoded);
}

TEST_CASE("clearing the memory clears all code") {
    auto& b = hart_bench::restart();
    start_caller(b, b.hart0);
    b.hart0.halt();
    b.memory.clear();
    b.load(program(code) << li(s1, 42) << j(0));
    b.start(b.hart0, code);
    b.run(2 * microsecond);
    CHECK(b.hart0.x(s1) == 42);
}
