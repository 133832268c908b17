// SPDX-License-Identifier: Apache-2.0
// Physical memory protection: matching, priority, permissions, locks.
#include "machine.h"

const char suite_name[] = "pmp";

enum { R = 1, W = 2, X = 4, TOR = 8, NA4 = 16, NAPOT = 24, LOCKED = 128 };

static uint64_t arena[8192] __attribute__((aligned(65536)));

/// Entry 15 opens everything else; entries 0 to 7 are the test's.
static void open_rest(void) {
    write_csr(pmpaddr15, UINT64_C(0x3fffffffffffff));
    write_csr(pmpcfg2, (uint64_t)(R | W | X | NAPOT) << 56);
    write_csr(pmpcfg0, 0);
}
static uint64_t napot(const void* base, uint64_t size) { return (uint64_t)base >> 2 | (size / 8 - 1); }
static uint64_t top(const void* address) { return (uint64_t)address >> 2; }

static uint64_t do_load(uint64_t address) { return try_load(address, 0); }
static uint64_t do_store(uint64_t address) { return try_store(address, UINT64_C(0x0000806700008067)); }
static uint64_t do_fetch(uint64_t address) { return try_fetch(address); }

static void expect_rights(unsigned mode, const void* address, unsigned rights) {
    CHECK_EQUAL(run_in(mode, do_load, (uint64_t)address), rights & R ? NO_TRAP : LOAD_ACCESS);
    if (!(rights & R)) CHECK_EQUAL(trap.value, address);
    CHECK_EQUAL(run_in(mode, do_store, (uint64_t)address), rights & W ? NO_TRAP : STORE_ACCESS);
    CHECK_EQUAL(run_in(mode, do_fetch, (uint64_t)address), rights & X ? NO_TRAP : FETCH_ACCESS);
}

static void permissions(void) {
    open_rest();
    for (unsigned i = 0; i < 8192; ++i) arena[i] = UINT64_C(0x0000806700008067);  // ret
    asm volatile("fence.i");
    write_csr(pmpaddr0, napot(arena, 4096));
    static const unsigned legal[] = {0, R, R | W, X, R | X, R | W | X};
    for (unsigned k = 0; k < 6; ++k)
        for (unsigned mode = USER; mode <= SUPERVISOR; ++mode) {
            write_csr(pmpcfg0, legal[k] | NAPOT);
            flush_translations();
            CHECK_EQUAL(read_csr(pmpcfg0), legal[k] | NAPOT);
            expect_rights(mode, arena, legal[k]);
            expect_rights(mode, arena + 511, legal[k]);
            expect_rights(mode, arena + 512, R | W | X);
        }
    // M mode is free unless the entry is locked.
    expect_rights(MACHINE, arena, R | W | X);
}

static void matching(void) {
    // Sizes of NAPOT regions
    for (uint64_t size = 8; size <= 32768; size *= 2) {
        open_rest();
        write_csr(pmpaddr0, napot((const char*)arena + 32768, size));
        write_csr(pmpcfg0, NAPOT);
        flush_translations();
        const char* base = (const char*)arena + 32768;
        CHECK_EQUAL(run_in(USER, do_load, (uint64_t)base), LOAD_ACCESS);
        CHECK_EQUAL(run_in(USER, do_load, (uint64_t)base + size - 8), LOAD_ACCESS);
        CHECK_EQUAL(run_in(USER, do_load, (uint64_t)base - 8), NO_TRAP);
        if (size < 32768) CHECK_EQUAL(run_in(USER, do_load, (uint64_t)base + size), NO_TRAP);
    }
    // TOR: from the entry before, or from zero; an empty range matches nothing.
    open_rest();
    write_csr(pmpaddr0, top(arena + 10));
    write_csr(pmpaddr1, top(arena + 20));
    write_csr(pmpaddr2, top(arena + 15));
    write_csr(pmpcfg0, TOR << 8 | (TOR | R) << 16);
    flush_translations();
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, (uint64_t)(arena + 9)), NO_TRAP);
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, (uint64_t)(arena + 10)), LOAD_ACCESS);
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, (uint64_t)(arena + 19)), LOAD_ACCESS);
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, (uint64_t)(arena + 20)), NO_TRAP);
    CHECK_EQUAL(run_in(SUPERVISOR, do_store, (uint64_t)(arena + 20)), NO_TRAP);
    // NA4
    open_rest();
    write_csr(pmpaddr0, top(arena + 100));
    write_csr(pmpcfg0, NA4);
    flush_translations();
    uint64_t cause;
    (void)cause;
    CHECK_EQUAL(run_in(USER, do_load, (uint64_t)(arena + 99)), NO_TRAP);
    CHECK_EQUAL(run_in(USER, do_load, (uint64_t)(arena + 100)), LOAD_ACCESS);
    CHECK_EQUAL(run_in(USER, do_load, (uint64_t)(arena + 101)), NO_TRAP);
    // The lowest-numbered match decides, even if it covers only part of the access.
    open_rest();
    write_csr(pmpaddr0, top(arena + 200) + 1);  // the upper half of a doubleword
    write_csr(pmpaddr1, napot(arena, 4096));
    write_csr(pmpcfg0, (NA4 | R | W | X) | (NAPOT | R) << 8);
    flush_translations();
    CHECK_EQUAL(run_in(USER, do_load, (uint64_t)(arena + 200)), LOAD_ACCESS);
    CHECK_EQUAL(run_in(USER, do_load, (uint64_t)(arena + 201)), NO_TRAP);
    CHECK_EQUAL(run_in(USER, do_store, (uint64_t)(arena + 201)), STORE_ACCESS);
    // No match at all: only M mode may.
    write_csr(pmpcfg2, 0);
    write_csr(pmpaddr2, top(arena));
    extern char bss_end[];
    write_csr(pmpaddr3, top(bss_end));
    (void)0;
    open_rest();
}

static void table_walks(void) {
    // The walker's reads are checked as supervisor accesses.
    open_rest();
    tables_begin(3);
    map_program(0);
    uint64_t* entry = map(UINT64_C(0x40000000), (uint64_t)arena, 0, PTE_V | PTE_R | PTE_W | PTE_AD);
    write_csr(satp, satp_value());
    flush_translations();
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, UINT64_C(0x40000000)), NO_TRAP);
    write_csr(pmpaddr0, napot((void*)((uint64_t)entry & ~UINT64_C(4095)), 4096));
    write_csr(pmpcfg0, NAPOT);
    flush_translations();
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, UINT64_C(0x40000000)), LOAD_ACCESS);
    CHECK_EQUAL(run_in(SUPERVISOR, do_store, UINT64_C(0x40000000)), STORE_ACCESS);
    write_csr(pmpcfg0, NAPOT | R | W);
    flush_translations();
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, UINT64_C(0x40000000)), NO_TRAP);
    // The page itself
    write_csr(pmpaddr1, napot(arena, 4096));
    write_csr(pmpcfg0, (NAPOT | R | W) | (NAPOT | R) << 8);
    flush_translations();
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, UINT64_C(0x40000000)), NO_TRAP);
    CHECK_EQUAL(run_in(SUPERVISOR, do_store, UINT64_C(0x40000000)), STORE_ACCESS);
    write_csr(satp, 0);
    flush_translations();
    open_rest();
}

static void locks(void) {
    open_rest();
    write_csr(pmpaddr4, napot(arena + 1024, 4096));
    write_csr(pmpcfg0, (uint64_t)(LOCKED | NAPOT | R) << 32);
    flush_translations();
    CHECK_EQUAL(read_csr(pmpcfg0) >> 32 & 255, LOCKED | NAPOT | R);
    // Locked entries bind M mode and cannot be changed until reset.
    expect_rights(MACHINE, arena + 1024, R);
    expect_rights(MACHINE, arena + 512, R | W | X);
    const uint64_t before = read_csr(pmpaddr4);
    write_csr(pmpaddr4, 0);
    CHECK_EQUAL(read_csr(pmpaddr4), before);
    write_csr(pmpcfg0, 0);
    CHECK_EQUAL(read_csr(pmpcfg0) >> 32 & 255, LOCKED | NAPOT | R);
    // A locked TOR entry locks the address below it.
    write_csr(pmpaddr5, top(arena + 4096));
    write_csr(pmpaddr6, top(arena + 4608));
    write_csr(pmpcfg0, (uint64_t)(LOCKED | TOR | R | W) << 48);
    write_csr(pmpaddr5, 0);
    CHECK_EQUAL(read_csr(pmpaddr5), top(arena + 4096));
    flush_translations();
    expect_rights(MACHINE, arena + 4096, R | W);
    expect_rights(MACHINE, arena + 4608, R | W | X);
}

void test(void) {
    permissions();
    matching();
    table_walks();
    locks();
}
