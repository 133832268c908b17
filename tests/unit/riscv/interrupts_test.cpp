// SPDX-License-Identifier: Apache-2.0
#include "hart_bench.h"

using namespace fabricvp;
using namespace fabricvp::riscv;
using namespace assembler;

namespace {
constexpr std::uint64_t code = memory_base, handler = memory_base + 0x1000;
constexpr std::uint64_t mie_bit = 1 << 3;
}  // namespace

TEST_CASE("wfi stops the hart until an enabled interrupt is pending, at once and to the tick") {
    auto& b = hart_bench::restart();
    b.load(program(code) << csrw(csr::mie, t0) << wfi << csrr(s2, csr::mcycle) << addi(s3, s3, 1) << j(0));
    b.hart0.set_x(t0, 1 << 11);
    const auto begin = b.timeline.now();
    const auto cycle_at_begin = b.csr(csr::mcycle);
    b.start(b.hart0, code);
    b.run(10 * microsecond);
    CHECK(b.hart0.waiting());
    CHECK(b.hart0.debug_state() == "wfi, M-mode");
    const auto active = b.hart0.active_cycles.total();
    b.hart0.set_interrupt(interrupt_line::machine_timer, true);  // not enabled
    b.run(10 * microsecond);
    CHECK(b.hart0.waiting());
    CHECK(b.hart0.active_cycles.total() == active);
    b.hart0.set_interrupt(interrupt_line::machine_external, true);
    const auto at = b.timeline.now();
    b.run(microsecond);
    CHECK(b.hart0.x(s3) == 1);  // MIE is off: it goes on without a trap
    CHECK(b.hart0.x(s2) == (at - begin) / nanosecond + cycle_at_begin);
    b.hart0.set_interrupt(interrupt_line::machine_external, false);
    CHECK(b.csr(csr::mip) == 1 << 7);
}

TEST_CASE("an interrupt that comes during wfi's own instruction time is not lost") {
    auto& b = hart_bench::restart();
    b.load(program(code) << csrw(csr::mie, t0) << wfi << li(s3, 1) << j(0));
    b.hart0.set_x(t0, 1 << 7);
    b.start(b.hart0, code);
    b.run(1);  // the slice has run, its local time is ahead
    REQUIRE(b.hart0.waiting());
    b.hart0.set_interrupt(interrupt_line::machine_timer, true);
    b.run(microsecond);
    CHECK(b.hart0.x(s3) == 1);
}

TEST_CASE("priorities, vectored mode, enables") {
    auto& b = hart_bench::restart();
    for (unsigned i = 0; i < 16; ++i) b.load(program(handler + 4 * i) << j(0));
    b.load(program(code) << csrrs(zero, csr::mstatus, t1) << nop << j(-4));
    const auto vector_of = [&](std::uint64_t enabled) {
        b.hart0.halt();
        b.hart0.reset();
        b.set_csr(csr::mtvec, handler | 1);
        b.set_csr(csr::mie, enabled);
        b.hart0.set_x(t1, mie_bit);
        for (const auto line : {interrupt_line::machine_software, interrupt_line::machine_timer,
                                interrupt_line::machine_external, interrupt_line::supervisor_external})
            b.hart0.set_interrupt(line, true);
        b.start(b.hart0, code);
        b.run(3 * microsecond);
        return b.csr(csr::mcause) >> 63 ? (b.hart0.pc() - handler) / 4 : 99;
    };
    CHECK(vector_of(0) == 99);
    CHECK(vector_of(0xaaa) == 11);
    CHECK(vector_of(0xaaa & ~(1 << 11)) == 3);
    CHECK(vector_of(0x2a2 | 1 << 7) == 7);
    CHECK(vector_of(0x222) == 9);
    CHECK((b.csr(csr::mstatus) & (1 << 7 | mie_bit)) == 1 << 7);
    CHECK(b.csr(csr::mepc) == code + 4);
}

TEST_CASE("a delegated external interrupt: the line does not feed back into the software bit") {
    auto& b = hart_bench::restart();
    b.set_csr(csr::mideleg, 0x222);
    b.hart0.set_interrupt(interrupt_line::supervisor_external, true);
    program p(code);
    p << csrr(s2, csr::mip) << li(t0, 2) << csrrs(s3, csr::mip, t0) << j(0);
    b.run_program(p);
    CHECK(b.hart0.x(s2) == 0x200);
    b.hart0.set_interrupt(interrupt_line::supervisor_external, false);
    CHECK(b.csr(csr::mip) == 2);
}

TEST_CASE("an interrupt inside an executed slice is taken at the next one, and counted as late") {
    auto& b = hart_bench::restart();
    b.load(program(handler) << csrr(s2, csr::mcycle) << j(0));
    b.load(program(code) << j(0));
    b.set_csr(csr::mtvec, handler);
    b.set_csr(csr::mie, 1 << 3);
    b.set_csr(csr::mstatus, mie_bit);
    b.start(b.hart0, code);
    b.run(5 * microsecond + 300 * nanosecond);
    const auto late = b.hart0.late_interrupts.total();
    b.hart0.set_interrupt(interrupt_line::machine_software, true);
    b.run(2 * microsecond);
    CHECK(b.hart0.late_interrupts.total() == late + 1);
    CHECK(b.csr(csr::mcause) == (1ull << 63 | 3));
}

TEST_CASE("Sstc: stimecmp interrupts at its time, running or waiting") {
    for (const bool waits : {true, false}) {
        auto& b = hart_bench::restart();
        const std::uint64_t supervisor = memory_base + 0x2000, trap = memory_base + 0x3000;
        b.load(program(trap) << csrr(s2, csr::time) << csrr(s3, csr::scause) << csrr(s4, csr::mcycle) << j(0));
        b.load(program(supervisor) << csrr(s6, csr::time) << addi(t0, s6, 40) << csrw(csr::stimecmp, t0)
                                   << csrr(s5, csr::sip) << csrw(csr::sie, t1) << csrrs(zero, csr::sstatus, t2)
                                   << (waits ? wfi : nop) << j(-4));
        b.load(program(code) << mret);
        b.set_csr(csr::stvec, trap);
        b.set_csr(csr::mideleg, 0x222);
        b.set_csr(csr::mcounteren, 7);
        b.set_csr(csr::menvcfg, 1ull << 63);
        b.set_csr(csr::pmpaddr0, ~0ull);
        b.set_csr(csr::pmpcfg0, 0x1f);
        b.set_csr(csr::mepc, supervisor);
        b.set_csr(csr::mstatus, 1 << 11);
        b.hart0.set_x(t1, 1 << 5);
        b.hart0.set_x(t2, 2);
        b.start(b.hart0, code);
        b.run(3 * microsecond);
        CHECK(b.hart0.x(s3) == 0);
        b.run(5 * microsecond);
        CHECK(b.hart0.x(s5) == 0);
        CHECK(b.hart0.x(s3) == (1ull << 63 | 5));
        CHECK(b.hart0.x(s2) == b.hart0.x(s6) + 40);
        CHECK((b.csr(csr::sip) & 1 << 5) != 0);
        b.set_csr(csr::stimecmp, ~0ull);
        CHECK((b.csr(csr::sip) & 1 << 5) == 0);
    }
}

TEST_CASE("pause gives up the slice: two harts that poll each other stay in step") {
    auto& b = hart_bench::restart();
    const std::uint64_t flag = memory_base + 0x8000;
    // Hart 0 waits for the flag with pause; hart 1 sets it at a known time.
    b.load(program(code) << ld(t0, a0, 0) << bne(t0, zero, 12) << pause << j(-12) << csrr(s2, csr::mcycle) << j(0));
    b.load(program(handler) << li(t0, 500) << addi(t0, t0, -1) << bne(t0, zero, -4) << li(t1, 1)
                            << csrr(s2, csr::mcycle) << sd(t1, a0, 0) << j(0));
    for (auto* h : {&b.hart0, &b.hart1}) h->set_x(a0, flag);
    b.start(b.hart0, code);
    b.start(b.hart1, handler);
    b.run(5 * microsecond);
    // A slice of hart 1 runs ahead by 1 us, so hart 0 may see the store that much earlier, but not later than a round.
    const auto difference = static_cast<std::int64_t>(b.hart0.x(s2) - b.hart1.x(s2));
    CHECK(difference < 30);
    CHECK(difference > -1100);
}
