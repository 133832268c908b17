// SPDX-License-Identifier: Apache-2.0
// What the specification says and QEMU 7.2 does otherwise.
#include "machine.h"

const char suite_name[] = "strict";

static uint64_t do_load(uint64_t address) { return try_load(address, 0); }
static uint64_t do_store(uint64_t address) { return try_store(address, 0); }
static uint64_t do_fetch(uint64_t address) { return try_fetch(address); }

static void priorities(void) {
    *msip() = 1;
    *mtimecmp() = 0;
    while ((read_csr(mip) & (1 << MSI | 1 << MTI)) != (1 << MSI | 1 << MTI)) {
    }
    write_csr(mip, 0x222);
    set_csr(mie, 0xaaa);
    set_csr(mstatus, MSTATUS_MIE);
    for (int i = 0; i < 1000000 && *(volatile uint64_t*)&trap.interrupts < 5; ++i) {
    }
    CHECK_EQUAL(trap.interrupts, 5);
    // MEI, MSI, MTI, SEI, SSI, STI
    static const uint64_t order[] = {MSI, MTI, SEI, SSI, STI};
    for (int i = 0; i < 5; ++i) CHECK_EQUAL(trap.order[i], order[i]);
    clear_csr(mstatus, MSTATUS_MIE);
    *msip() = 0;
    *mtimecmp() = ~UINT64_C(0);
    write_csr(mip, 0);
}

static uint64_t nothing(uint64_t v) { return v; }

/// Privileged specification 1.12: mret and sret to a mode below M clear MPRV.
static void modified_privilege_ends(void) {
    for (unsigned mode = USER; mode <= SUPERVISOR; ++mode) {
        set_csr(mstatus, MSTATUS_MPRV);
        CHECK_EQUAL(run_in(mode, nothing, 1), 1);
        CHECK_EQUAL(read_csr(mstatus) & MSTATUS_MPRV, 0);
    }
    set_csr(mstatus, MSTATUS_MPP);
    set_csr(mstatus, MSTATUS_SPP | MSTATUS_MPRV);
    ATTEMPT("la t0, 1f\ncsrw sepc, t0\nsret\n1: ebreak", , );
    CHECK_EQUAL(trap.status & MSTATUS_MPRV, 0);
}

static uint64_t count_trailing(uint64_t a) {
    uint64_t n;
    asm("ctzw %0, %1" : "=r"(n) : "r"(a));
    return n;
}

enum { R = 1, W = 2, X = 4, NA4 = 16, NAPOT = 24 };

static uint64_t fetch_with(uint64_t at, const void* denied) {
    write_csr(pmpaddr0, (uint64_t)denied >> 2);
    write_csr(pmpcfg0, NA4 | R | W);
    flush_translations();
    return run_in(USER, do_fetch, at);
}

/// A 32-bit instruction needs the right to execute for both of its halves, wherever in a page a border of PMP lies; a
/// 16-bit one only for its own. QEMU asks for the first half alone.
static void straddling(void) {
    static uint16_t code[64] __attribute__((aligned(4)));
    uint16_t* border = code + 32;
    const uint64_t at = (uint64_t)(border - 1);
    write_csr(pmpaddr15, UINT64_C(0x3fffffffffffff));  // opens everything else
    write_csr(pmpcfg2, (uint64_t)(R | W | X | NAPOT) << 56);
    border[-1] = 0x8067;  // jalr x0, 0(ra)
    border[0] = 0;
    asm volatile("fence.i");
    CHECK_EQUAL(fetch_with(at, border + 2), NO_TRAP);
    CHECK_EQUAL(fetch_with(at, border), FETCH_ACCESS);
    CHECK_EQUAL(trap.epc, at);
    CHECK_EQUAL(trap.value, border);
    CHECK_EQUAL(fetch_with(at, border - 2), FETCH_ACCESS);
    CHECK_EQUAL(trap.epc, at);
    CHECK_EQUAL(trap.value, at);
    border[-1] = 0x8082;  // c.jr ra
    asm volatile("fence.i");
    CHECK_EQUAL(fetch_with(at, border), NO_TRAP);
    CHECK_EQUAL(fetch_with(at, border - 2), FETCH_ACCESS);
    write_csr(pmpcfg0, 0);
    flush_translations();
}

void test(void) {
    // mepc and sepc have no bit 0.
    write_csr(mepc, ~UINT64_C(0));
    CHECK_EQUAL(read_csr(mepc) & 1, 0);
    write_csr(sepc, UINT64_C(0x80000003));
    CHECK_EQUAL(read_csr(sepc), 0x80000002);

    // MPP cannot hold the reserved mode 2.
    clear_csr(mstatus, MSTATUS_MPP);
    set_csr(mstatus, UINT64_C(2) << 11);
    CHECK((read_csr(mstatus) >> 11 & 3) != 2);

    // An ecall from M mode cannot be delegated.
    write_csr(medeleg, ~UINT64_C(0));
    CHECK_EQUAL(read_csr(medeleg) >> ECALL_M & 1, 0);
    write_csr(medeleg, 0);

    // A page table outside of memory: the walk's access fault, as the original access's kind.
    tables_begin(3);
    map_program(0);
    map(UINT64_C(0x100000000), UINT64_C(1) << 45, 1, PTE_V);
    write_csr(satp, satp_value());
    flush_translations();
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, UINT64_C(0x100000000)), LOAD_ACCESS);
    CHECK_EQUAL(run_in(SUPERVISOR, do_store, UINT64_C(0x100000000)), STORE_ACCESS);
    CHECK_EQUAL(run_in(SUPERVISOR, do_fetch, UINT64_C(0x100000000)), FETCH_ACCESS);
    write_csr(satp, 0);
    // Whether a CSR is written depends on the register's number, not on its value.
    CHECK_EQUAL(CAUSE_OF("li t2, 0\ncsrrs t0, mhartid, t2"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("li t2, 0\ncsrrc t0, cycle, t2"), ILLEGAL);

    for (unsigned bit = 32; bit < 64; ++bit) CHECK_EQUAL(count_trailing(UINT64_C(1) << bit), 32);
    CHECK_EQUAL(count_trailing(0), 32);
    CHECK_EQUAL(count_trailing(UINT64_C(1) << 31), 31);

    // Unprivileged specification, chapter "A": an AMO that faults raises a store/AMO exception, never a load's.
    uint64_t v = 3;
    ATTEMPT("amoor.w %[v], zero, (%[a])", [v] "+&r"(v), [a] "r"(UINT64_C(0x50000)));
    CHECK_EQUAL(trap.cause, STORE_ACCESS);
    ATTEMPT("amomax.d %[v], zero, (%[a])", [v] "+&r"(v), [a] "r"(UINT64_C(0x50000)));
    CHECK_EQUAL(trap.cause, STORE_ACCESS);
    ATTEMPT("sc.d %[v], zero, (%[a])", [v] "+&r"(v), [a] "r"(UINT64_C(0x50000)));
    CHECK(trap.cause == STORE_ACCESS || (trap.cause == NO_TRAP && v != 0));

    priorities();
    straddling();
    modified_privilege_ends();  // stays in S mode
}
