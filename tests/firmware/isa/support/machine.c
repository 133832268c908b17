// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

struct trap_record trap;

extern char machine_vector[], supervisor_trap[], machine_frame_end[], supervisor_frame_end[];
uint64_t enter(uint64_t fn, uint64_t argument, uint64_t stack);
void leave(uint64_t value);

enum { CALL_LEAVE = 0x1ea5e, CALL_FAIL = 0xfa11 };

static uint8_t lower_stack[8192] __attribute__((aligned(16)));

struct frame {
    uint64_t x[32];
};

void machine_setup(void) {
    write_csr(mscratch, machine_frame_end);
    write_csr(sscratch, supervisor_frame_end);
    write_csr(mtvec, machine_vector);
    write_csr(stvec, supervisor_trap);
    write_csr(pmpaddr0, UINT64_C(0x3fffffffffffff));
    write_csr(pmpcfg0, 0x1f);  // NAPOT, all of memory, read, write, execute
    write_csr(medeleg, 0);
    write_csr(mideleg, 0);
    write_csr(mie, 0);
    write_csr(satp, 0);
    set_csr(mstatus, MSTATUS_FS);
}

int main(void) {
    machine_setup();
    test();
    report(0, suite_name, 0);
}

static void record(uint64_t cause, uint64_t epc, uint64_t value, uint64_t status, unsigned level) {
    if (cause & INTERRUPT) trap.order[trap.interrupts++ & 15] = cause & 63;
    trap.cause = cause;
    trap.epc = epc;
    trap.value = value;
    trap.status = status;
    trap.level = level;
}

void handle_machine_trap(struct frame* f) {
    const uint64_t cause = read_csr(mcause), epc = read_csr(mepc);
    if (cause >= ECALL_U && cause <= ECALL_M) {
        if (f->x[17] == CALL_LEAVE) {
            write_csr(mscratch, machine_frame_end);
            leave(f->x[10]);
        }
        if (f->x[17] == CALL_FAIL) report(f->x[10], suite_name, (const char*)f->x[11]);
    }
    record(cause, epc, read_csr(mtval), read_csr(mstatus), MACHINE);
    if (cause & INTERRUPT) {
        clear_csr(mie, UINT64_C(1) << (cause & 63));  // once each
        return;
    }
    if (!trap.resume) report_trap(0xfffe, suite_name, "unexpected trap", cause, epc, read_csr(mtval));
    write_csr(mepc, trap.resume);
    trap.resume = 0;
}

void handle_supervisor_trap(struct frame* f) {
    const uint64_t cause = read_csr(scause), epc = read_csr(sepc);
    (void)f;
    record(cause, epc, read_csr(stval), read_csr(sstatus), SUPERVISOR);
    if (cause & INTERRUPT) {
        clear_csr(sie, UINT64_C(1) << (cause & 63));
        return;
    }
    CHECK(trap.resume);
    write_csr(sepc, trap.resume);
    trap.resume = 0;
}

uint64_t run_in(unsigned mode, uint64_t (*fn)(uint64_t), uint64_t argument) {
    if (mode == MACHINE) return fn(argument);
    clear_csr(mstatus, MSTATUS_MPP);
    set_csr(mstatus, (uint64_t)mode << 11);
    return enter((uint64_t)fn, argument, (uint64_t)lower_stack + sizeof lower_stack);
}

void failed(uint64_t line, const char* what) {
    register uint64_t a0 asm("a0") = line;
    register const char* a1 asm("a1") = what;
    register uint64_t a7 asm("a7") = CALL_FAIL;
    asm volatile("ecall" : : "r"(a0), "r"(a1), "r"(a7));
    for (;;) {
    }
}

void mismatch(uint64_t line, const char* what, uint64_t got, uint64_t wanted) {
    static char text[160];
    char* at = text;
    const uint64_t values[] = {got, wanted};
    for (; *what && at < text + 100; ++what) *at++ = *what;
    for (int k = 0; k < 2; ++k) {
        for (const char* t = k ? " / " : ": "; *t; ++t) *at++ = *t;
        for (int i = 60; i >= 0; i -= 4) *at++ = "0123456789abcdef"[values[k] >> i & 15];
    }
    *at = 0;
    failed(line, text);
}

uint64_t try_load(uint64_t address, uint64_t* value) {
    uint64_t v = 0;
    ATTEMPT("ld %[v], 0(%[a])", [v] "+&r"(v), [a] "r"(address));
    if (value) *value = v;
    return trap.cause;
}

uint64_t try_store(uint64_t address, uint64_t value) {
    ATTEMPT("sd %[v], 0(%[a])", , [v] "r"(value), [a] "r"(address));
    return trap.cause;
}

uint64_t try_fetch(uint64_t address) {
    ATTEMPT("jalr ra, 0(%[a])", , [a] "r"(address));
    return trap.cause;
}

enum { TABLES = 24 };
static uint64_t tables[TABLES][512] __attribute__((aligned(4096)));
static unsigned tables_used, table_levels;

void tables_begin(unsigned levels) {
    for (unsigned t = 0; t < TABLES; ++t)
        for (unsigned i = 0; i < 512; ++i) tables[t][i] = 0;
    tables_used = 1;
    table_levels = levels;
}

uint64_t* map(uint64_t address, uint64_t physical, unsigned level, uint64_t flags) {
    uint64_t* table = tables[0];
    for (unsigned l = table_levels - 1; l > level; --l) {
        uint64_t* entry = &table[address >> (12 + 9 * l) & 511];
        if (!*entry) {
            CHECK(tables_used < TABLES);
            *entry = (uint64_t)tables[tables_used++] >> 12 << 10 | PTE_V;
        }
        table = (uint64_t*)(*entry >> 10 << 12);
    }
    uint64_t* entry = &table[address >> (12 + 9 * level) & 511];
    *entry = physical >> 12 << 10 | flags;
    return entry;
}

void map_program(int user) {
    map(0, 0, 2, PTE_V | PTE_R | PTE_W | PTE_AD | (user ? PTE_U : 0));
    map(VIRT_DRAM_BASE, VIRT_DRAM_BASE, 2, PTE_V | PTE_RWX | PTE_AD | (user ? PTE_U : 0));
}

uint64_t satp_value(void) { return (table_levels == 3 ? UINT64_C(8) : UINT64_C(9)) << 60 | (uint64_t)tables[0] >> 12; }
