// SPDX-License-Identifier: Apache-2.0
// CSR instructions, access rights and legal values.
#include "machine.h"

const char suite_name[] = "csr";

static void read_modify_write(void) {
    uint64_t old;
    write_csr(mscratch, 0x0123456789abcdef);
    asm volatile("csrrw %0, mscratch, %1" : "=r"(old) : "r"(UINT64_C(0xff)));
    CHECK_EQUAL(old, 0x0123456789abcdef);
    asm volatile("csrrs %0, mscratch, %1" : "=r"(old) : "r"(UINT64_C(0xf0000000000000f0)));
    CHECK_EQUAL(old, 0xff);
    asm volatile("csrrc %0, mscratch, %1" : "=r"(old) : "r"(UINT64_C(0x8000000000000001)));
    CHECK_EQUAL(old, 0xf0000000000000ff);
    asm volatile("csrrwi %0, mscratch, 21" : "=r"(old));
    CHECK_EQUAL(old, 0x70000000000000fe);
    asm volatile("csrrsi %0, mscratch, 10" : "=r"(old));
    CHECK_EQUAL(old, 21);
    asm volatile("csrrci %0, mscratch, 3" : "=r"(old));
    CHECK_EQUAL(old, 31);
    asm volatile("csrrs %0, mscratch, zero" : "=r"(old));
    CHECK_EQUAL(old, 28);
    asm volatile("csrrw zero, mscratch, %0" : : "r"(UINT64_C(5)));
    asm volatile("csrrw %0, mscratch, %0" : "+r"(old));  // rd = rs1
    CHECK_EQUAL(old, 5);
    CHECK_EQUAL(read_csr(mscratch), 28);
    write_csr(mscratch, 0);  // the trap entry's again
    machine_setup();
}

static void read_only(void) {
    CHECK_EQUAL(CAUSE_OF("csrw mhartid, zero"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("csrrs t0, mhartid, zero"), NO_TRAP);
    CHECK_EQUAL(CAUSE_OF("csrrc t0, mvendorid, zero"), NO_TRAP);
    CHECK_EQUAL(CAUSE_OF("li t2, 1\ncsrrs t0, mhartid, t2"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("csrrsi t0, mhartid, 0"), NO_TRAP);
    CHECK_EQUAL(CAUSE_OF("csrrci t0, mhartid, 1"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("csrwi cycle, 0"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("csrrw zero, instret, zero"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("csrr t0, 0x5c0"), ILLEGAL);  // does not exist
    CHECK_EQUAL(CAUSE_OF("csrr t0, 0xfff"), ILLEGAL);
}

static uint64_t user_rights(uint64_t unused) {
    (void)unused;
    CHECK_EQUAL(CAUSE_OF("csrr t0, sstatus"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("csrr t0, mstatus"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("csrw sscratch, zero"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("mret"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("sret"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("sfence.vma"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("csrr t0, fcsr"), NO_TRAP);
    CHECK_EQUAL(CAUSE_OF("fence.i"), NO_TRAP);
    return 0;
}

static uint64_t supervisor_rights(uint64_t unused) {
    (void)unused;
    CHECK_EQUAL(CAUSE_OF("csrr t0, mstatus"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("csrr t0, mhartid"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("csrw pmpcfg0, zero"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("mret"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("csrr t0, sstatus"), NO_TRAP);
    CHECK_EQUAL(CAUSE_OF("csrr t0, satp"), NO_TRAP);
    CHECK_EQUAL(CAUSE_OF("sfence.vma"), NO_TRAP);
    return 0;
}

static void legal_values(void) {
    // misa: RV64 with I, M, A, F, D, C, S and U.
    const uint64_t misa = read_csr(misa);
    CHECK_EQUAL(misa >> 62, 2);
    for (const char* letter = "IMAFDCSU"; *letter; ++letter) CHECK(misa >> (*letter - 'A') & 1);
    write_csr(mepc, 0xfffffffffffffffe);
    CHECK_EQUAL(read_csr(mepc), 0xfffffffffffffffe);
    // MPP takes U, S and M only.
    for (uint64_t mode = 0; mode < 4; ++mode) {
        if (mode == 2) continue;  // in strict.c
        clear_csr(mstatus, MSTATUS_MPP);
        set_csr(mstatus, mode << 11);
        CHECK_EQUAL(read_csr(mstatus) >> 11 & 3, mode);
    }
    // UXL and SXL are 2, and stay.
    CHECK_EQUAL(read_csr(mstatus) >> 32 & 15, 10);
    // A write of satp with an unknown mode has no effect at all.
    write_csr(satp, 0);
    write_csr(satp, UINT64_C(5) << 60 | 0x1234);
    CHECK_EQUAL(read_csr(satp), 0);
    // sstatus shows part of mstatus.
    clear_csr(mstatus, MSTATUS_SUM | MSTATUS_MXR | MSTATUS_SPP);
    set_csr(sstatus, MSTATUS_SUM | MSTATUS_MXR | MSTATUS_SPP | MSTATUS_SIE | MSTATUS_SPIE);
    CHECK_EQUAL(read_csr(mstatus) & (MSTATUS_SUM | MSTATUS_MXR | MSTATUS_SPP | MSTATUS_SIE | MSTATUS_SPIE),
                MSTATUS_SUM | MSTATUS_MXR | MSTATUS_SPP | MSTATUS_SIE | MSTATUS_SPIE);
    clear_csr(sstatus, MSTATUS_SUM | MSTATUS_MXR | MSTATUS_SPP | MSTATUS_SIE | MSTATUS_SPIE);
    write_csr(mstatus, read_csr(mstatus) & ~MSTATUS_MIE);
    const uint64_t before = read_csr(mstatus);
    write_csr(sstatus, read_csr(sstatus) | MSTATUS_MPP | MSTATUS_MPRV | MSTATUS_TVM | MSTATUS_MIE);
    CHECK_EQUAL(read_csr(mstatus), before);
    CHECK_EQUAL(read_csr(sstatus) & (MSTATUS_MPP | MSTATUS_MPRV | MSTATUS_TVM | MSTATUS_MIE), 0);
    // sie and sip show delegated interrupts only.
    write_csr(mideleg, 0);
    write_csr(mie, 0x222);
    CHECK_EQUAL(read_csr(sie), 0);
    write_csr(mideleg, 0x202);
    CHECK_EQUAL(read_csr(sie), 0x202);
    write_csr(sie, 0);
    CHECK_EQUAL(read_csr(mie), 0x020);
    write_csr(mie, 0);
    write_csr(mideleg, 0);
    write_csr(medeleg, ~UINT64_C(0));
    CHECK_EQUAL(read_csr(medeleg) & 0xb1ff, 0xb1ff);
    write_csr(medeleg, 0);
    // mideleg: machine interrupts cannot be delegated.
    write_csr(mideleg, ~UINT64_C(0));
    CHECK_EQUAL(read_csr(mideleg) & 0xaaa, 0x222);
    write_csr(mideleg, 0);
    // Full-width scratch registers.
    write_csr(mtval, 0xdeadbeefcafef00d);
    CHECK_EQUAL(read_csr(mtval), 0xdeadbeefcafef00d);
    write_csr(stval, 0x8000000000000001);
    CHECK_EQUAL(read_csr(stval), 0x8000000000000001);
    write_csr(mcause, INTERRUPT | 7);
    CHECK_EQUAL(read_csr(mcause), INTERRUPT | 7);
    write_csr(scause, 13);
    CHECK_EQUAL(read_csr(scause), 13);
}

static void floating_point_state(void) {
    clear_csr(mstatus, MSTATUS_FS);
    CHECK_EQUAL(read_csr(mstatus) & MSTATUS_SD, 0);
    CHECK_EQUAL(CAUSE_OF("fadd.d ft0, ft0, ft0"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("fmv.x.d t0, ft0"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("fld ft0, 0(sp)"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("fsd ft0, -8(sp)"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF(".option push\n.option rvc\nc.fldsp fs0, 0(sp)\n.option pop"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("csrr t0, fcsr"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("csrr t0, frm"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("csrw fflags, zero"), ILLEGAL);
    // Any write makes the state dirty, and SD says so.
    static const uint64_t initial = UINT64_C(1) << 13, clean = UINT64_C(2) << 13;
    for (int k = 0; k < 2; ++k) {
        clear_csr(mstatus, MSTATUS_FS);
        set_csr(mstatus, k ? clean : initial);
        CHECK_EQUAL(read_csr(mstatus) & MSTATUS_FS, k ? clean : initial);
        CHECK_EQUAL(CAUSE_OF("fmv.d.x ft0, zero"), NO_TRAP);
        CHECK_EQUAL(read_csr(mstatus) & MSTATUS_FS, MSTATUS_FS);
        CHECK_EQUAL(read_csr(sstatus) & MSTATUS_SD, MSTATUS_SD);
        clear_csr(mstatus, MSTATUS_FS);
        set_csr(mstatus, k ? clean : initial);
        CHECK_EQUAL(CAUSE_OF("csrw fflags, zero"), NO_TRAP);
        CHECK_EQUAL(read_csr(mstatus) & MSTATUS_FS, MSTATUS_FS);
        clear_csr(mstatus, MSTATUS_FS);
        set_csr(mstatus, k ? clean : initial);
        CHECK_EQUAL(CAUSE_OF("fld ft0, 0(sp)"), NO_TRAP);
        CHECK_EQUAL(read_csr(mstatus) & MSTATUS_FS, MSTATUS_FS);
    }
    // Views of fcsr.
    write_csr(fcsr, ~UINT64_C(0));
    CHECK_EQUAL(read_csr(fcsr), 0xff);
    CHECK_EQUAL(read_csr(frm), 7);
    CHECK_EQUAL(read_csr(fflags), 31);
    write_csr(frm, 2);
    write_csr(fflags, 9);
    CHECK_EQUAL(read_csr(fcsr), 0x49);
    write_csr(fcsr, 0);
}

static uint64_t read_counters(uint64_t unused) {
    (void)unused;
    return (uint64_t)(CAUSE_OF("rdcycle t0") == NO_TRAP) | (uint64_t)(CAUSE_OF("rdtime t0") == NO_TRAP) << 1 |
           (uint64_t)(CAUSE_OF("rdinstret t0") == NO_TRAP) << 2;
}

static void counters(void) {
    for (uint64_t m = 0; m < 8; ++m)
        for (uint64_t s = 0; s < 8; ++s) {
            write_csr(mcounteren, m);
            write_csr(scounteren, s);
            CHECK_EQUAL(run_in(MACHINE, read_counters, 0), 7);
            CHECK_EQUAL(run_in(SUPERVISOR, read_counters, 0), m);
            CHECK_EQUAL(run_in(USER, read_counters, 0), m & s);
        }
    CHECK_EQUAL(read_csr(mcounteren), 7);
    const uint64_t c0 = read_csr(mcycle), i0 = read_csr(minstret), t0 = read_csr(time);
    for (volatile int i = 0; i < 1000; ++i) {
    }
    CHECK(read_csr(mcycle) > c0);
    CHECK(read_csr(minstret) > i0);
    CHECK(read_csr(time) >= t0);
    CHECK(*mtime() >= t0);
    CHECK(read_csr(time) - t0 < 10000000);
}

void test(void) {
    read_modify_write();
    read_only();
    run_in(USER, user_rights, 0);
    run_in(SUPERVISOR, supervisor_rights, 0);
    legal_values();
    floating_point_state();
    counters();
}
