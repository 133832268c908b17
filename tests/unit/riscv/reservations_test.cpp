// SPDX-License-Identifier: Apache-2.0
// LR and SC against every writer.
#include "hart_bench.h"

using namespace fabricvp;
using namespace fabricvp::riscv;
using namespace assembler;

namespace {
constexpr std::uint64_t code = memory_base, other_code = memory_base + 0x1000, data = memory_base + 0x8000;

/// Hart 0 does an LR, waits for many slices, then an SC; a2 tells the outcome (99: not yet).
void start_slow_pair(hart_bench& b) {
    b.load(program(code) << lr_d(a1, a0) << li(t0, 2000) << addi(t0, t0, -1) << bne(t0, zero, -4) << sc_d(a2, a3, a0)
                         << j(0));
    b.hart0.set_x(a0, data);
    b.hart0.set_x(a2, 99);
    b.hart0.set_x(a3, 5);
    b.start(b.hart0, code);
    b.run(2 * microsecond + 1);
    REQUIRE(b.hart0.x(a2) == 99);
}
std::uint64_t outcome(hart_bench& b) {
    b.run(10 * microsecond);
    return b.hart0.x(a2);
}
}  // namespace

TEST_CASE("SC succeeds once after LR, at its address only") {
    auto& b = hart_bench::restart();
    program p(code);
    p << sc_d(s2, t0, a0) << lr_d(t1, a0) << sc_d(s3, t0, a0) << sc_d(s4, t0, a0) << lr_d(t1, a0) << addi(a1, a0, 8)
      << sc_d(s5, t0, a1) << sc_d(s6, t0, a0) << lr_w(t1, a0) << ld(t2, a0, 0) << sd(t2, a0, 16) << sc_w(s7, t0, a0)
      << j(0);
    b.hart0.set_x(a0, data);
    b.hart0.set_x(t0, 0x1234);
    b.run_program(p);
    CHECK(b.hart0.x(s2) == 1);
    CHECK(b.hart0.x(s3) == 0);
    CHECK(b.hart0.x(s4) == 1);
    CHECK(b.hart0.x(s5) == 1);
    CHECK(b.hart0.x(s6) == 1);
    CHECK(b.hart0.x(s7) == 0);
    CHECK(b.read(data) == 0x1234);
    CHECK(b.read(data + 8) == 0);
}

TEST_CASE("a reservation survives slices without a write") {
    auto& b = hart_bench::restart();
    start_slow_pair(b);
    CHECK(b.memory.marks((data - memory_base) >> 12) == sparse_memory::reserved);
    CHECK(outcome(b) == 0);
    CHECK(b.read(data) == 5);
    CHECK((b.memory.marks((data - memory_base) >> 12) & sparse_memory::reserved) == 0);
}

TEST_CASE("a write breaks the reservation: debugger or loader, another hart's store, AMO and SC, DMA") {
    auto& b = hart_bench::restart();
    start_slow_pair(b);
    b.write(data, 7);
    CHECK(outcome(b) == 1);
    CHECK(b.read(data) == 7);

    const std::vector<std::vector<word>> writers = {
        {sd(t0, a0, 0)}, {amoadd_d(t1, t0, a0)}, {lr_d(t1, a0), sc_d(t1, t0, a0)}};
    for (const auto& writer : writers) {
        hart_bench::restart();
        // A first store gives hart 1 a writable translation of the page before hart 0 reserves.
        b.load(program(other_code) << sd(t0, a0, 64) << beq(s0, zero, 0) << writer << j(0));
        b.hart1.set_x(a0, data);
        b.hart1.set_x(t0, 9);
        b.hart1.set_x(s0, 0);
        b.start(b.hart1, other_code);
        start_slow_pair(b);
        b.hart1.set_x(s0, 1);
        CHECK(outcome(b) == 1);
        CHECK(b.read(data) == 9);
    }

    hart_bench::restart();
    start_slow_pair(b);
    b.memory.touch_by_device(data - memory_base, 8);
    const std::uint64_t value = 11;
    b.memory.write(data - memory_base, &value, 8);
    CHECK(outcome(b) == 1);
    CHECK(b.read(data) == 11);
}

TEST_CASE("harts count together with LR and SC, with AMOs, and under a lock") {
    const auto count = [](const std::vector<word>& body, std::uint64_t each) {
        auto& b = hart_bench::restart();
        for (auto* h : {&b.hart0, &b.hart1}) {
            const auto base = h == &b.hart0 ? code : other_code;
            const int size = static_cast<int>(4 * body.size());
            b.load(program(base) << body << addi(s0, s0, -1) << bne(s0, zero, -4 - size) << li(s1, 1) << j(0));
            h->set_x(a0, data);
            h->set_x(a4, data + 64);
            h->set_x(s0, each);
            h->set_x(s1, 0);
            h->set_x(t1, 1);
            b.start(*h, base);
        }
        for (int i = 0; i < 2000 && !(b.hart0.x(s1) && b.hart1.x(s1)); ++i) b.run(microsecond);
        REQUIRE((b.hart0.x(s1) && b.hart1.x(s1)));
        return b.read(data);
    };
    CHECK(count({lr_d(t0, a0), addi(t0, t0, 1), sc_d(t2, t0, a0), bne(t2, zero, -12)}, 10000) == 20000);
    CHECK(count({amoadd_d(zero, t1, a0)}, 10000) == 20000);
    // A test-and-set lock around a plain increment, with a pause while it is taken.
    CHECK(count({amoswap_d(t0, t1, a4), beq(t0, zero, 12), pause, j(-12), ld(t0, a0, 0), addi(t0, t0, 1), sd(t0, a0, 0),
                 sd(zero, a4, 0)},
                5000) == 10000);
}

TEST_CASE("in lockstep every LR and SC pair spans slices and still works") {
    auto& b = hart_bench::restart();
    b.hart0.set_lockstep(true);
    program p(code);
    p << lr_d(t0, a0) << addi(t0, t0, 1) << sc_d(t2, t0, a0) << bne(t2, zero, -12) << addi(s0, s0, -1)
      << bne(s0, zero, -20) << j(0);
    b.hart0.set_x(a0, data);
    b.hart0.set_x(s0, 100);
    b.run_program(p);
    CHECK(b.read(data) == 100);
}
