// SPDX-License-Identifier: Apache-2.0
// Tests of address translation; sv39.c and sv48.c include it with LEVELS 3 and 4.
#include "machine.h"

#if LEVELS == 3
const char suite_name[] = "sv39";
#define LOWEST_NEGATIVE UINT64_C(0xffffffc000000000)
#define BEYOND UINT64_C(0x0000004000000000)
#else
const char suite_name[] = "sv48";
#define LOWEST_NEGATIVE UINT64_C(0xffff800000000000)
#define BEYOND UINT64_C(0x0000800000000000)
#endif

#define WINDOW UINT64_C(0x40000000)

static uint64_t page[3][512] __attribute__((aligned(4096)));
static uint64_t big[1 << 19] __attribute__((aligned(1 << 21)));  // 4 MiB: a 2 MiB page and its neighbour

enum { RET = 0x8067 };

static void prepare(int user) {
    tables_begin(LEVELS);
    map_program(user);
    for (int p = 0; p < 3; ++p)
        for (int i = 0; i < 512; ++i) page[p][i] = (uint64_t)RET << 32 | RET;
    asm volatile("fence.i");
}

static void switch_on(void) {
    write_csr(satp, satp_value());
    flush_translations();
}

static uint64_t do_load(uint64_t address) { return try_load(address, 0); }
static uint64_t do_store(uint64_t address) { return try_store(address, (uint64_t)RET << 32 | RET); }
static uint64_t do_fetch(uint64_t address) { return try_fetch(address); }

/// Every combination of R, W, X and U against mode, SUM and MXR, by the rules of the privileged specification.
static void permissions(void) {
    for (unsigned mode = USER; mode <= SUPERVISOR; ++mode) {
        prepare(mode == USER);
        switch_on();
        for (unsigned bits = 0; bits < 128; ++bits) {
            const int r = bits & 1, w = bits >> 1 & 1, x = bits >> 2 & 1, u = bits >> 3 & 1, v = bits >> 4 & 1;
            const int sum = bits >> 5 & 1, mxr = bits >> 6 & 1;
            map(WINDOW, (uint64_t)page[0], 0,
                (uint64_t)((r ? PTE_R : 0) | (w ? PTE_W : 0) | (x ? PTE_X : 0) | (u ? PTE_U : 0) | (v ? PTE_V : 0) |
                           PTE_AD));
            flush_translations();
            clear_csr(mstatus, MSTATUS_SUM | MSTATUS_MXR);
            set_csr(mstatus, (sum ? MSTATUS_SUM : 0) | (mxr ? MSTATUS_MXR : 0));
            const int valid = v && !(w && !r) && (r || x);
            const int data = valid && (mode == USER ? u : !u || sum);
            const int code = valid && (mode == USER ? u : !u);
            CHECK_EQUAL(run_in(mode, do_load, WINDOW + 8), data && (r || (mxr && x)) ? NO_TRAP : LOAD_PAGE);
            if (trap.cause != NO_TRAP) CHECK_EQUAL(trap.value, WINDOW + 8);
            CHECK_EQUAL(run_in(mode, do_store, WINDOW + 16), data && w ? NO_TRAP : STORE_PAGE);
            if (trap.cause != NO_TRAP) CHECK_EQUAL(trap.value, WINDOW + 16);
            CHECK_EQUAL(run_in(mode, do_fetch, WINDOW + 4), code && x ? NO_TRAP : FETCH_PAGE);
            if (trap.cause != NO_TRAP) CHECK_EQUAL(trap.value, WINDOW + 4);
        }
    }
    clear_csr(mstatus, MSTATUS_SUM | MSTATUS_MXR);
}

/// A and D are set by hardware, or their absence faults: either is legal, each in its way.
static void accessed_and_dirty(void) {
    prepare(0);
    switch_on();
    uint64_t* entry = map(WINDOW, (uint64_t)page[0], 0, PTE_V | PTE_RWX);
    flush_translations();
    uint64_t cause = run_in(SUPERVISOR, do_load, WINDOW);
    CHECK(cause == NO_TRAP ? (*entry & PTE_AD) == PTE_A : cause == LOAD_PAGE && !(*entry & PTE_AD));
    *entry = (*entry & ~(uint64_t)PTE_AD) | PTE_A;
    flush_translations();
    cause = run_in(SUPERVISOR, do_store, WINDOW);
    CHECK(cause == NO_TRAP ? (*entry & PTE_AD) == PTE_AD : cause == STORE_PAGE && (*entry & PTE_AD) == PTE_A);
    *entry &= ~(uint64_t)PTE_AD;
    flush_translations();
    cause = run_in(SUPERVISOR, do_fetch, WINDOW);
    CHECK(cause == NO_TRAP ? (*entry & PTE_AD) == PTE_A : cause == FETCH_PAGE && !(*entry & PTE_AD));
    // A page that was read first still becomes dirty when written.
    *entry = (*entry & ~(uint64_t)PTE_AD) | PTE_A;
    flush_translations();
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, WINDOW), NO_TRAP);
    cause = run_in(SUPERVISOR, do_store, WINDOW);
    CHECK(cause == NO_TRAP ? (*entry & PTE_D) != 0 : cause == STORE_PAGE && !(*entry & PTE_D));
}

static uint64_t load_value(uint64_t address) {
    uint64_t v = 0;
    CHECK_EQUAL(try_load(address, &v), NO_TRAP);
    return v;
}

static void page_sizes(void) {
    prepare(0);
    for (uint64_t i = 0; i < 1 << 19; i += 512) big[i + 5] = i;
    uint64_t* entry = map(WINDOW, (uint64_t)big, 1, PTE_V | PTE_R | PTE_AD);
    map(UINT64_C(0xc0000000), 0, 2, PTE_V | PTE_R | PTE_AD);
    switch_on();
    for (uint64_t i = 0; i < 1 << 18; i += 512) CHECK_EQUAL(run_in(SUPERVISOR, load_value, WINDOW + 8 * (i + 5)), i);
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, WINDOW + (1 << 21)), LOAD_PAGE);
    // Misaligned superpages are page faults.
    *entry = ((uint64_t)big + 4096) >> 12 << 10 | PTE_V | PTE_R | PTE_AD;
    flush_translations();
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, WINDOW), LOAD_PAGE);
    map(UINT64_C(0xc0000000), 1 << 21, 2, PTE_V | PTE_R | PTE_AD);
    flush_translations();
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, UINT64_C(0xc0000000)), LOAD_PAGE);
    // A leaf must come before the levels run out.
    map(WINDOW + (1 << 22), (uint64_t)page[0], 0, PTE_V);
    flush_translations();
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, WINDOW + (1 << 22)), LOAD_PAGE);
#if LEVELS == 4
    // A 512 GiB page
    map(UINT64_C(1) << 39, 0, 3, PTE_V | PTE_R | PTE_AD);
    flush_translations();
    page[0][9] = 0x5a5a;
    CHECK_EQUAL(run_in(SUPERVISOR, load_value, (UINT64_C(1) << 39) + (uint64_t)&page[0][9]), 0x5a5a);
#endif
}

static void address_ranges(void) {
    prepare(0);
    map(LOWEST_NEGATIVE, (uint64_t)page[0], 0, PTE_V | PTE_RWX | PTE_AD);
    map(~UINT64_C(4095), (uint64_t)page[1], 0, PTE_V | PTE_RWX | PTE_AD);
    switch_on();
    page[0][0] = 11;
    page[1][511] = 12;
    CHECK_EQUAL(run_in(SUPERVISOR, load_value, LOWEST_NEGATIVE), 11);
    CHECK_EQUAL(run_in(SUPERVISOR, load_value, ~UINT64_C(7)), 12);
    // Addresses that are not sign-extended fault, even where the low bits are mapped.
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, BEYOND), LOAD_PAGE);
    CHECK_EQUAL(trap.value, BEYOND);
    CHECK_EQUAL(run_in(SUPERVISOR, do_store, BEYOND), STORE_PAGE);
    CHECK_EQUAL(run_in(SUPERVISOR, do_fetch, BEYOND), FETCH_PAGE);
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, LOWEST_NEGATIVE - 8), LOAD_PAGE);
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, UINT64_C(1) << 63), LOAD_PAGE);
    // Reserved bits of an entry
    uint64_t* entry = map(WINDOW, (uint64_t)page[0], 0, PTE_V | PTE_RWX | PTE_AD);
    const uint64_t good = *entry;
    flush_translations();
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, WINDOW), NO_TRAP);
    *entry = good | UINT64_C(1) << 54;
    flush_translations();
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, WINDOW), LOAD_PAGE);
    *entry = good;
}

static uint64_t across_pages(uint64_t address) {
    uint64_t v = 0;
    const uint64_t cause = try_load(address, &v);
    if (cause == LOAD_MISALIGNED) return 0;
    CHECK_EQUAL(cause, NO_TRAP);
    CHECK_EQUAL(v, 0x8877665544332211);
    return 1;
}

static void page_borders(void) {
    // Neighbours in virtual memory that are none in physical memory.
    prepare(0);
    map(WINDOW, (uint64_t)page[2], 0, PTE_V | PTE_RWX | PTE_AD);
    uint64_t* second = map(WINDOW + 4096, (uint64_t)page[0], 0, PTE_V | PTE_RWX | PTE_AD);
    switch_on();
    uint8_t *low = (uint8_t*)&page[2][512], *high = (uint8_t*)page[0];
    for (int k = 0; k < 3; ++k) low[k - 3] = (uint8_t)(0x11 * (k + 1));
    for (int k = 3; k < 8; ++k) high[k - 3] = (uint8_t)(0x11 * (k + 1));
    run_in(SUPERVISOR, across_pages, WINDOW + 4096 - 3);
    // addi a0, a0, 1 with its halves on either side; then ret
    *(uint16_t*)(low - 2) = 0x0513;
    *(uint16_t*)high = 0x0015;
    *(uint16_t*)(high + 2) = 0x8082;
    asm volatile("fence.i");
    CHECK_EQUAL(run_in(SUPERVISOR, do_fetch, WINDOW + 4094), NO_TRAP);
    *second = 0;
    flush_translations();
    CHECK_EQUAL(run_in(SUPERVISOR, do_fetch, WINDOW + 4094), FETCH_PAGE);
    CHECK_EQUAL(trap.epc, WINDOW + 4094);
    CHECK_EQUAL(trap.value, WINDOW + 4096);
    const uint64_t cause = run_in(SUPERVISOR, do_store, WINDOW + 4096 - 4);
    CHECK(cause == STORE_PAGE || cause == STORE_MISALIGNED);
    CHECK_EQUAL(*(uint16_t*)(low - 2), 0x0513);
    if (cause == STORE_PAGE)
        CHECK_EQUAL(trap.value & ~UINT64_C(7), WINDOW + 4096 - (trap.value < WINDOW + 4096 ? 8 : 0));
}

static uint64_t fence_one(uint64_t address) {
    asm volatile("sfence.vma %0, zero" : : "r"(address) : "memory");
    return 0;
}

static void remapping(void) {
    prepare(0);
    uint64_t* entry = map(WINDOW, (uint64_t)page[0], 0, PTE_V | PTE_RWX | PTE_AD);
    switch_on();
    page[0][3] = 100;
    page[1][3] = 101;
    for (int round = 0; round < 8; ++round) {
        *entry = (uint64_t)page[round & 1] >> 12 << 10 | PTE_V | PTE_RWX | PTE_AD;
        if (round & 2)
            flush_translations();
        else
            run_in(SUPERVISOR, fence_one, WINDOW + 8);
        CHECK_EQUAL(run_in(SUPERVISOR, load_value, WINDOW + 24), 100 + (uint64_t)(round & 1));
    }
    // A new satp with another address space needs no fence when the ASID differs, and here gets one anyway.
    *entry = 0;
    write_csr(satp, satp_value() | UINT64_C(7) << 44);
    flush_translations();
    CHECK_EQUAL(run_in(SUPERVISOR, do_load, WINDOW), LOAD_PAGE);
    // Bare again
    write_csr(satp, 0);
    flush_translations();
    CHECK_EQUAL(run_in(SUPERVISOR, load_value, (uint64_t)&page[1][3]), 101);
}

/// M mode with MPRV translates data, never code.
static void modified_privilege(void) {
    prepare(1);
    map(WINDOW, (uint64_t)page[0], 0, PTE_V | PTE_R | PTE_W | PTE_AD);         // supervisor's
    map(WINDOW + 4096, (uint64_t)page[1], 0, PTE_V | PTE_R | PTE_U | PTE_AD);  // user's
    switch_on();
    page[0][0] = 21;
    page[1][0] = 22;
    uint64_t v = 0, status;
    const uint64_t as_user = MSTATUS_MPRV, as_supervisor = MSTATUS_MPRV | UINT64_C(1) << 11;
    clear_csr(mstatus, MSTATUS_MPP | MSTATUS_SUM);
    status = read_csr(mstatus);
#define WITH(bits, instruction)                                                                          \
    asm volatile("csrw mstatus, %[on]\n" instruction "\ncsrw mstatus, %[off]"                            \
                 : [v] "+&r"(v)                                                                          \
                 : [on] "r"(status | (bits)), [off] "r"(status), [a] "r"(WINDOW), [b] "r"(WINDOW + 4096) \
                 : "memory")
    WITH(as_user, "ld %[v], 0(%[b])");
    CHECK_EQUAL(v, 22);
    WITH(as_supervisor, "ld %[v], 0(%[a])");
    CHECK_EQUAL(v, 21);
    WITH(as_supervisor | MSTATUS_SUM, "ld %[v], 0(%[b])");
    CHECK_EQUAL(v, 22);
    WITH(as_supervisor, "sd %[b], 8(%[a])");
    CHECK_EQUAL(page[0][1], WINDOW + 4096);
    // As M there is no translation, so the user page of the program is open.
    asm volatile("csrw mstatus, %[on]\n ld %[v], 0(%[p])\n csrw mstatus, %[off]"
                 : [v] "=&r"(v)
                 : [on] "r"(status | MSTATUS_MPRV | MSTATUS_MPP), [off] "r"(status), [p] "r"(page[0])
                 : "memory");
    CHECK_EQUAL(v, 21);
    // Faults under MPRV; the handler must not run with it, so it is a trap that clears nothing: set, trap, look.
    uint64_t before = status | as_user, cause;
    extern char machine_trap_under_mprv[];
    const uint64_t vector = read_csr(mtvec);
    write_csr(mtvec, machine_trap_under_mprv);
    asm volatile(
        "csrw mstatus, %[on]\n ld %[v], 0(%[a])\n li %[v], 0\n j 2f\n"
        ".balign 4\n.globl machine_trap_under_mprv\nmachine_trap_under_mprv:\n"
        "csrw mstatus, %[off]\n csrr %[cause], mcause\n2: csrw mstatus, %[off]"
        : [v] "+&r"(v), [cause] "=&r"(cause)
        : [on] "r"(before), [off] "r"(status), [a] "r"(WINDOW)
        : "memory");
    write_csr(mtvec, vector);
    CHECK_EQUAL(cause, LOAD_PAGE);
    CHECK_EQUAL(read_csr(mtval), WINDOW);
}

static uint64_t atomics_under_translation(uint64_t unused) {
    (void)unused;
    uint64_t v = 1, result;
    ATTEMPT("amoadd.d %[v], %[v], (%[a])", [v] "+&r"(v), [a] "r"(WINDOW));
    CHECK_EQUAL(trap.cause, NO_TRAP);
    CHECK_EQUAL(v, 40);
    asm volatile("lr.d %[v], (%[a])\nsc.d %[r], zero, (%[a])"
                 : [v] "=&r"(v), [r] "=&r"(result)
                 : [a] "r"(WINDOW)
                 : "memory");
    CHECK_EQUAL(v, 41);
    CHECK_EQUAL(result, 0);
    // Read-only page: AMO and SC are store page faults; LR is a load.
    ATTEMPT("amoadd.d %[v], %[v], (%[a])", [v] "+&r"(v), [a] "r"(WINDOW + 4096));
    CHECK_EQUAL(trap.cause, STORE_PAGE);
    CHECK_EQUAL(trap.value, WINDOW + 4096);
    ATTEMPT("lr.d %[v], (%[a])", [v] "+&r"(v), [a] "r"(WINDOW + 4096));
    CHECK_EQUAL(trap.cause, NO_TRAP);
    ATTEMPT("lr.d %[v], (%[a])", [v] "+&r"(v), [a] "r"(WINDOW + 8192));
    CHECK_EQUAL(trap.cause, LOAD_PAGE);
    ATTEMPT("amoswap.w %[v], %[v], (%[a])", [v] "+&r"(v), [a] "r"(WINDOW + 8192));
    CHECK_EQUAL(trap.cause, STORE_PAGE);
    return 0;
}

static void atomics(void) {
    prepare(0);
    map(WINDOW, (uint64_t)page[0], 0, PTE_V | PTE_R | PTE_W | PTE_AD);
    map(WINDOW + 4096, (uint64_t)page[1], 0, PTE_V | PTE_R | PTE_AD);
    switch_on();
    page[0][0] = 40;
    run_in(SUPERVISOR, atomics_under_translation, 0);
    CHECK_EQUAL(page[0][0], 0);
}

void test(void) {
    permissions();
    accessed_and_dirty();
    page_sizes();
    address_ranges();
    page_borders();
    remapping();
    modified_privilege();
    atomics();
}
