// SPDX-License-Identifier: Apache-2.0
// Interrupts: sources, enables, delegation, priorities, vectors, wfi.
#include "machine.h"

const char suite_name[] = "interrupts";

static const uint64_t ever = ~UINT64_C(0);

static void quiet(void) {
    *msip() = 0;
    *mtimecmp() = ever;
    write_csr(mie, 0);
    write_csr(mideleg, 0);
    write_csr(mip, 0);
    clear_csr(mstatus, MSTATUS_MIE | MSTATUS_SIE);
    trap.interrupts = 0;
    trap.cause = NO_TRAP;
}

/// Time for a line to arrive; interrupts need not be precise.
static void wait_for_interrupts(uint64_t count) {
    for (int i = 0; i < 1000000 && *(volatile uint64_t*)&trap.interrupts < count; ++i) {
    }
}
static void settle(void) {
    for (volatile int i = 0; i < 2000; ++i) {
    }
}
static void until_pending(uint64_t code, uint64_t level) {
    for (int i = 0; i < 1000000 && (read_csr(mip) >> code & 1) != level; ++i) {
    }
    CHECK_EQUAL(read_csr(mip) >> code & 1, level);
}

static void machine_software(void) {
    quiet();
    *msip() = 1;
    until_pending(MSI, 1);
    CHECK_EQUAL(*msip(), 1);
    set_csr(mstatus, MSTATUS_MIE);
    settle();
    CHECK_EQUAL(trap.interrupts, 0);  // not enabled in mie
    set_csr(mie, 1 << MSI);
    wait_for_interrupts(1);
    CHECK_EQUAL(trap.interrupts, 1);
    CHECK_EQUAL(trap.cause, INTERRUPT | MSI);
    CHECK_EQUAL(trap.status & MSTATUS_MIE, 0);
    CHECK_EQUAL(trap.status & MSTATUS_MPIE, MSTATUS_MPIE);
    *msip() = 0;
    until_pending(MSI, 0);
    // MSIP cannot be written through mip.
    write_csr(mip, 1 << MSI | 1 << MTI | 1 << MEI);
    CHECK_EQUAL(read_csr(mip) & (1 << MSI | 1 << MTI | 1 << MEI), 0);
    // MIE off: pending, not taken.
    quiet();
    set_csr(mie, 1 << MSI);
    *msip() = 1;
    settle();
    CHECK_EQUAL(trap.interrupts, 0);
    set_csr(mstatus, MSTATUS_MIE);
    wait_for_interrupts(1);
    CHECK_EQUAL(trap.cause, INTERRUPT | MSI);
}

static void machine_timer(void) {
    quiet();
    *mtimecmp() = 0;
    until_pending(MTI, 1);
    *mtimecmp() = ever;
    until_pending(MTI, 0);
    set_csr(mstatus, MSTATUS_MIE);
    set_csr(mie, 1 << MTI);
    const uint64_t at = *mtime() + 2000;
    *mtimecmp() = at;
    while (!*(volatile uint64_t*)&trap.interrupts && *mtime() < at + 10000000) {
    }
    CHECK_EQUAL(trap.cause, INTERRUPT | MTI);
    CHECK(*mtime() >= at);
    CHECK_EQUAL(*mtimecmp(), at);
}

static void supervisor_bits(void) {
    // SSIP, STIP and SEIP are software's in M mode.
    quiet();
    write_csr(mip, 1 << SSI | 1 << STI | 1 << SEI);
    CHECK_EQUAL(read_csr(mip) & 0x222, 0x222);
    write_csr(mideleg, 0x222);
    CHECK_EQUAL(read_csr(sip) & 0x222, 0x222);
    write_csr(sip, 0);  // only SSIP is writable from S mode
    CHECK_EQUAL(read_csr(mip) & 0x222, 0x220);
    write_csr(mideleg, 0);
    write_csr(sip, 1 << SSI);  // not delegated: no effect
    CHECK_EQUAL(read_csr(mip) & 0x222, 0x220);
    write_csr(mip, 0);
    CHECK_EQUAL(read_csr(mip) & 0x222, 0);
}

static void vectored(void) {
    quiet();
    const uint64_t base = read_csr(mtvec);
    write_csr(mtvec, base | 1);
    CHECK_EQUAL(read_csr(mtvec), base | 1);
    static const uint64_t codes[] = {SSI, STI, SEI};
    set_csr(mstatus, MSTATUS_MIE);
    for (int i = 0; i < 3; ++i) {
        vector_taken[0] = 0;
        write_csr(mip, UINT64_C(1) << codes[i]);
        set_csr(mie, UINT64_C(1) << codes[i]);
        wait_for_interrupts((uint64_t)i + 1);
        CHECK_EQUAL(vector_taken[0], codes[i]);
        CHECK_EQUAL(trap.cause, INTERRUPT | codes[i]);
    }
    vector_taken[0] = 0;
    CHECK_EQUAL(CAUSE_OF("ebreak"), BREAKPOINT);  // exceptions go to the base
    CHECK_EQUAL(vector_taken[0], 0);
    write_csr(mtvec, base);
}

static uint64_t spin(uint64_t count) {
    wait_for_interrupts(count);
    return trap.interrupts;
}

static void delegation(void) {
    // Taken in S mode if SIE is set; always in U mode; never in M mode.
    quiet();
    write_csr(mideleg, 0x222);
    write_csr(mip, 1 << SSI);
    set_csr(mie, 0x222);
    set_csr(mstatus, MSTATUS_MIE | MSTATUS_SIE);
    settle();
    CHECK_EQUAL(trap.interrupts, 0);
    CHECK_EQUAL(run_in(SUPERVISOR, spin, 1), 1);
    CHECK_EQUAL(trap.cause, INTERRUPT | SSI);
    CHECK_EQUAL(trap.level, SUPERVISOR);
    CHECK_EQUAL(trap.status & MSTATUS_SPP, MSTATUS_SPP);
    CHECK_EQUAL(trap.status & MSTATUS_SIE, 0);
    CHECK_EQUAL(trap.status & MSTATUS_SPIE, MSTATUS_SPIE);
    write_csr(mip, 0);
    clear_csr(mstatus, MSTATUS_SIE);
    trap.interrupts = 0;
    write_csr(mip, 1 << SEI);
    set_csr(mie, 1 << SEI);
    CHECK_EQUAL(run_in(SUPERVISOR, spin, 1), 0);  // SIE off
    CHECK_EQUAL(run_in(USER, spin, 1), 1);        // less privileged than S: always
    CHECK_EQUAL(trap.cause, INTERRUPT | SEI);
    CHECK_EQUAL(trap.level, SUPERVISOR);
    CHECK_EQUAL(trap.status & MSTATUS_SPP, 0);
    // Not delegated: M mode takes it from S mode, whatever MIE says.
    quiet();
    write_csr(mip, 1 << STI);
    set_csr(mie, 1 << STI);
    CHECK_EQUAL(run_in(SUPERVISOR, spin, 1), 1);
    CHECK_EQUAL(trap.level, MACHINE);
    CHECK_EQUAL(trap.cause, INTERRUPT | STI);
    CHECK_EQUAL(trap.status >> 11 & 3, SUPERVISOR);
    // M's interrupts come before delegated ones.
    quiet();
    write_csr(mideleg, 0x222);
    write_csr(mip, 0x222);
    *msip() = 1;
    until_pending(MSI, 1);
    set_csr(mie, 0x22a);
    set_csr(mstatus, MSTATUS_SIE);
    CHECK_EQUAL(run_in(SUPERVISOR, spin, 4), 4);
    CHECK_EQUAL(trap.order[0], MSI);
}

static uint64_t do_ebreak(uint64_t unused) {
    (void)unused;
    return CAUSE_OF("ebreak");
}

static void exception_delegation(void) {
    quiet();
    write_csr(medeleg, 1 << BREAKPOINT);
    write_csr(mcause, 0x55);
    CHECK_EQUAL(run_in(USER, do_ebreak, 0), BREAKPOINT);
    CHECK_EQUAL(trap.level, SUPERVISOR);
    CHECK_EQUAL(trap.status & MSTATUS_SPP, 0);
    CHECK_EQUAL(run_in(SUPERVISOR, do_ebreak, 0), BREAKPOINT);
    CHECK_EQUAL(trap.level, SUPERVISOR);
    CHECK_EQUAL(trap.status & MSTATUS_SPP, MSTATUS_SPP);
    CHECK_EQUAL(run_in(MACHINE, do_ebreak, 0), BREAKPOINT);
    CHECK_EQUAL(trap.level, MACHINE);
    write_csr(medeleg, 0);
    CHECK_EQUAL(run_in(SUPERVISOR, do_ebreak, 0), BREAKPOINT);
    CHECK_EQUAL(trap.level, MACHINE);
}

static void wait_for_interrupt(void) {
    // wfi goes on for an interrupt that is enabled in mie, even with MIE off.
    quiet();
    set_csr(mie, 1 << MTI);
    const uint64_t at = *mtime() + 5000;
    *mtimecmp() = at;
    while (!(read_csr(mip) >> MTI & 1)) asm volatile("wfi");
    CHECK(*mtime() >= at);
    CHECK_EQUAL(trap.interrupts, 0);
    // With MIE on the interrupt is taken, and epc lies behind the wfi.
    quiet();
    *mtimecmp() = *mtime() + 5000;
    set_csr(mie, 1 << MTI);
    uint64_t behind;
    asm volatile("la %0, 1f\ncsrsi mstatus, 8\nwfi\n1: nop\nnop" : "=r"(behind) : : "memory");
    wait_for_interrupts(1);
    CHECK_EQUAL(trap.interrupts, 1);
    // Pending already: wfi does not wait.
    quiet();
    *msip() = 1;
    until_pending(MSI, 1);
    set_csr(mie, 1 << MSI);
    asm volatile("wfi");
    CHECK_EQUAL(trap.interrupts, 0);
    (void)behind;
}

void test(void) {
    machine_software();
    machine_timer();
    supervisor_bits();
    vectored();
    delegation();
    exception_delegation();
    wait_for_interrupt();
    quiet();
}
