// SPDX-License-Identifier: Apache-2.0
// Sstc: the supervisor's timer.
#include "machine.h"

const char suite_name[] = "sstc";

#define stimecmp 0x14d
#define menvcfg 0x30a
#define STCE (UINT64_C(1) << 63)

static uint64_t access_traps(uint64_t unused) {
    (void)unused;
    return CAUSE_OF("csrr t0, 0x14d") == ILLEGAL;
}

static uint64_t timer_interrupt(uint64_t delay) {
    const uint64_t at = read_csr(time) + delay;
    asm volatile("csrw 0x14d, %0" : : "r"(at) : "memory");
    set_csr(sie, 1 << STI);
    while (!*(volatile uint64_t*)&trap.interrupts && read_csr(time) < at + 10000000) {
    }
    CHECK_EQUAL(trap.interrupts, 1);
    CHECK(read_csr(time) >= at);
    asm volatile("csrw 0x14d, %0" : : "r"(~UINT64_C(0)) : "memory");
    return trap.cause;
}

static uint64_t wait_for_timer(uint64_t delay) {
    const uint64_t at = read_csr(time) + delay;
    asm volatile("csrw 0x14d, %0" : : "r"(at) : "memory");
    while (!(read_csr(sip) >> STI & 1)) asm volatile("wfi");
    return read_csr(time) >= at;
}

void test(void) {
    // Off: S mode has no stimecmp, and STIP is M mode's to write.
    asm volatile("csrw 0x30a, zero");
    write_csr(mcounteren, 7);
    CHECK_EQUAL(run_in(SUPERVISOR, access_traps, 0), 1);
    write_csr(mip, 1 << STI);
    CHECK_EQUAL(read_csr(mip) >> STI & 1, 1);
    write_csr(mip, 0);
    CHECK_EQUAL(read_csr(mip) >> STI & 1, 0);

    asm volatile("csrw 0x14d, %0" : : "r"(~UINT64_C(0)));
    asm volatile("csrs 0x30a, %0" : : "r"(STCE));
    uint64_t v;
    asm volatile("csrr %0, 0x30a" : "=r"(v));
    CHECK_EQUAL(v & STCE, STCE);
    CHECK_EQUAL(run_in(SUPERVISOR, access_traps, 0), 0);
    CHECK_EQUAL(run_in(USER, access_traps, 0), 1);
    write_csr(mcounteren, 5);  // without TM it is out of reach again
    CHECK_EQUAL(run_in(SUPERVISOR, access_traps, 0), 1);
    write_csr(mcounteren, 7);

    // STIP follows time >= stimecmp, and nothing else.
    asm volatile("csrw 0x14d, zero");
    for (int i = 0; i < 1000000 && !(read_csr(mip) >> STI & 1); ++i) {
    }
    CHECK_EQUAL(read_csr(mip) >> STI & 1, 1);
    asm volatile("csrw 0x14d, %0" : : "r"(~UINT64_C(0)));
    for (int i = 0; i < 1000000 && (read_csr(mip) >> STI & 1); ++i) {
    }
    CHECK_EQUAL(read_csr(mip) >> STI & 1, 0);

    write_csr(mideleg, 1 << STI);
    set_csr(mstatus, MSTATUS_SIE);
    CHECK_EQUAL(run_in(SUPERVISOR, timer_interrupt, 3000), INTERRUPT | STI);
    CHECK_EQUAL(trap.level, SUPERVISOR);
    clear_csr(mstatus, MSTATUS_SIE);
    set_csr(mie, 1 << STI);
    CHECK_EQUAL(run_in(SUPERVISOR, wait_for_timer, 5000), 1);
}
