// SPDX-License-Identifier: Apache-2.0
// TVM, TW, TSR, returns from traps, and what each mode may execute.
#include "machine.h"

const char suite_name[] = "privilege";

static uint64_t traps_of_supervisor(uint64_t unused) {
    (void)unused;
    uint64_t mask = 0;
    if (CAUSE_OF("csrr t0, satp") == ILLEGAL) mask |= 1;
    if (CAUSE_OF("csrw satp, zero") == ILLEGAL) mask |= 2;
    if (CAUSE_OF("sfence.vma") == ILLEGAL) mask |= 4;
    if (CAUSE_OF(
            "csrr t2, sstatus\ncsrs sstatus, t2\nla t0, 9f\ncsrw sepc, t0\nli t0, 0x100\ncsrs sstatus, t0\nsret") ==
        ILLEGAL)
        mask |= 8;
    return mask;
}

static uint64_t wfi_traps(uint64_t unused) {
    (void)unused;
    return CAUSE_OF("wfi") == ILLEGAL;
}

static void virtualisation(void) {
    CHECK_EQUAL(run_in(SUPERVISOR, traps_of_supervisor, 0), 0);
    set_csr(mstatus, MSTATUS_TVM);
    CHECK_EQUAL(run_in(SUPERVISOR, traps_of_supervisor, 0), 7);
    CHECK_EQUAL(CAUSE_OF("csrr t0, satp"), NO_TRAP);  // M mode is not concerned
    CHECK_EQUAL(CAUSE_OF("sfence.vma"), NO_TRAP);
    clear_csr(mstatus, MSTATUS_TVM);
    set_csr(mstatus, MSTATUS_TSR);
    CHECK_EQUAL(run_in(SUPERVISOR, traps_of_supervisor, 0), 8);
    clear_csr(mstatus, MSTATUS_TSR);
    set_csr(mstatus, MSTATUS_TW);
    *msip() = 1;
    write_csr(mie, 1 << MSI);
    CHECK_EQUAL(wfi_traps(0), 0);
    write_csr(mie, 0);
    CHECK_EQUAL(run_in(SUPERVISOR, wfi_traps, 0), 1);
    CHECK_EQUAL(run_in(USER, wfi_traps, 0), 1);
    *msip() = 0;
    clear_csr(mstatus, MSTATUS_TW);
}

static uint64_t reached;
static uint64_t mark(uint64_t value) {
    reached = value;
    return value;
}

/// Where sret goes and what it leaves, from SPIE (bit 0 of `what`) and SPP (bit 1); SIE starts as the opposite of SPIE.
static uint64_t state_after_sret(uint64_t what) {
    clear_csr(sstatus, MSTATUS_SIE | MSTATUS_SPIE | MSTATUS_SPP);
    set_csr(sstatus, (what & 1 ? MSTATUS_SPIE : MSTATUS_SIE) | (what & 2 ? MSTATUS_SPP : 0));
    ATTEMPT("la t0, 1f\ncsrw sepc, t0\nsret\n1: ebreak", , );
    return trap.status;
}

/// mret and sret: where they go, in which mode, and what they leave in mstatus.
static void returns(void) {
    for (unsigned mode = USER; mode <= SUPERVISOR; ++mode) {
        CHECK_EQUAL(run_in(mode, mark, 40 + mode), 40 + mode);
        CHECK_EQUAL(reached, 40 + mode);
    }
    // mret to M keeps MPRV.
    set_csr(mstatus, MSTATUS_MPP);
    set_csr(mstatus, MSTATUS_MPRV);
    asm volatile("la t0, 1f\ncsrw mepc, t0\nli t0, 0x1800\ncsrs mstatus, t0\nmret\n1:" : : : "t0", "memory");
    CHECK_EQUAL(read_csr(mstatus) & MSTATUS_MPRV, MSTATUS_MPRV);
    clear_csr(mstatus, MSTATUS_MPRV);
    // MIE takes MPIE, MPIE becomes 1, MPP becomes U.
    for (int k = 0; k < 2; ++k) {
        clear_csr(mstatus, MSTATUS_MPIE | MSTATUS_MIE);
        if (k) set_csr(mstatus, MSTATUS_MPIE);
        asm volatile("la t0, 1f\ncsrw mepc, t0\nli t0, 0x1800\ncsrs mstatus, t0\nmret\n1:" : : : "t0", "memory");
        CHECK_EQUAL(read_csr(mstatus) & MSTATUS_MIE, k ? MSTATUS_MIE : 0);
        CHECK_EQUAL(read_csr(mstatus) & MSTATUS_MPIE, MSTATUS_MPIE);
        CHECK_EQUAL(read_csr(mstatus) & MSTATUS_MPP, 0);
    }
    clear_csr(mstatus, MSTATUS_MIE);
    // sret: to SPP, SIE takes SPIE, SPIE becomes 1, SPP becomes U.
    for (uint64_t k = 0; k < 4; ++k) {
        const uint64_t status = run_in(SUPERVISOR, state_after_sret, k);
        CHECK_EQUAL(status & MSTATUS_SIE, k & 1 ? MSTATUS_SIE : 0);
        CHECK_EQUAL(status & MSTATUS_SPIE, MSTATUS_SPIE);
        CHECK_EQUAL(status & MSTATUS_SPP, 0);
        CHECK_EQUAL(trap.status >> 11 & 3, k & 2 ? SUPERVISOR : USER);
        clear_csr(mstatus, MSTATUS_SIE);
    }
}

/// A supervisor that serves a user's ecall by itself.
static uint64_t call_supervisor(uint64_t unused) {
    (void)unused;
    ATTEMPT("li a7, 0\necall", , );
    return trap.cause;
}

static void delegated_calls(void) {
    write_csr(medeleg, 1 << ECALL_U);
    // The way back to M mode is an ecall too, so a user test returns through S mode's handler: use S mode's own call.
    CHECK_EQUAL(run_in(SUPERVISOR, call_supervisor, 0), ECALL_S);
    CHECK_EQUAL(trap.level, MACHINE);
    write_csr(medeleg, 0);
    CHECK_EQUAL(run_in(USER, call_supervisor, 0), ECALL_U);
    CHECK_EQUAL(trap.level, MACHINE);
}

void test(void) {
    virtualisation();
    delegated_calls();
    returns();
}
