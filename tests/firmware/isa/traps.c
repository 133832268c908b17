// SPDX-License-Identifier: Apache-2.0
// Synchronous exceptions: causes, values, epc, state before and after.
#include "machine.h"

const char suite_name[] = "traps";

#define UNMAPPED UINT64_C(0x00050000)

static uint64_t cells[4] __attribute__((aligned(64)));
static uint64_t line_of_code[8] __attribute__((aligned(64)));

static void illegal_instructions(void) {
    CHECK_EQUAL(CAUSE_OF(".4byte 0xffffffdb"), ILLEGAL);
    CHECK(trap.value == 0xffffffdb || trap.value == 0);
    CHECK_EQUAL(CAUSE_OF(".2byte 0x0000"), ILLEGAL);
    CHECK(trap.value == 0);
    CHECK_EQUAL(CAUSE_OF(".4byte 0x0000002b"), ILLEGAL);            // custom-1
    CHECK_EQUAL(CAUSE_OF(".4byte 0x02007033 | 1 << 26"), ILLEGAL);  // OP, funct7 not assigned
    CHECK_EQUAL(CAUSE_OF(".4byte 0x00007003"), ILLEGAL);            // load, funct3 7
    CHECK_EQUAL(CAUSE_OF(".4byte 0x00004023"), ILLEGAL);            // store, funct3 4
    CHECK_EQUAL(CAUSE_OF(".4byte 0x00002063"), ILLEGAL);            // branch, funct3 2
    CHECK_EQUAL(CAUSE_OF(".4byte 0x00001067"), ILLEGAL);            // jalr, funct3 1
    CHECK_EQUAL(CAUSE_OF(".4byte 0x0200101b"), ILLEGAL);            // slliw with amount 32
    CHECK_EQUAL(CAUSE_OF(".4byte 0x1000202f | 1 << 20"), ILLEGAL);  // lr.w with rs2
    CHECK_EQUAL(CAUSE_OF(".2byte 0x2001"), ILLEGAL);                // c.addiw x0
    CHECK_EQUAL(CAUSE_OF(".2byte 0x4002"), ILLEGAL);                // c.lwsp x0
    CHECK_EQUAL(CAUSE_OF(".2byte 0x6002"), ILLEGAL);                // c.ldsp x0
    CHECK_EQUAL(CAUSE_OF(".2byte 0x6081"), ILLEGAL);                // c.lui with 0
    CHECK_EQUAL(CAUSE_OF(".2byte 0x6101"), ILLEGAL);                // c.addi16sp with 0
    CHECK_EQUAL(CAUSE_OF(".2byte 0x8002"), ILLEGAL);                // c.jr x0
    CHECK_EQUAL(CAUSE_OF(".2byte 0x9c41"), ILLEGAL);                // reserved in the compressed arithmetic group
    CHECK_EQUAL(CAUSE_OF(".2byte 0x0004"), ILLEGAL);                // c.addi4spn with 0
    CHECK_EQUAL(CAUSE_OF(".2byte 0x8000"), ILLEGAL);                // quadrant 0, funct3 4
    // Rounding modes 5 and 6 are reserved, statically and in frm.
    CHECK_EQUAL(CAUSE_OF(".4byte 0x02005053"), ILLEGAL);  // fadd.d, rm 5
    CHECK_EQUAL(CAUSE_OF(".4byte 0x02006053"), ILLEGAL);
    write_csr(frm, 5);
    CHECK_EQUAL(CAUSE_OF("fadd.d ft0, ft0, ft0"), ILLEGAL);
    CHECK_EQUAL(CAUSE_OF("fadd.d ft0, ft0, ft0, rne"), NO_TRAP);
    CHECK_EQUAL(CAUSE_OF("fmin.d ft0, ft0, ft0"), NO_TRAP);  // does not round
    write_csr(frm, 0);
    uint64_t pc;
    ATTEMPT("la %[p], 1f\n.balign 4\n1: .4byte 0xffffffdb", [p] "=&r"(pc), );
    CHECK_EQUAL(trap.epc, pc);
    CHECK_EQUAL(trap.status >> 11 & 3, MACHINE);
}

static void breakpoints(void) {
    uint64_t pc;
    ATTEMPT("la %[p], 1f\n1: ebreak", [p] "=&r"(pc), );
    CHECK_EQUAL(trap.cause, BREAKPOINT);
    CHECK_EQUAL(trap.epc, pc);
    CHECK(trap.value == pc || trap.value == 0);
    ATTEMPT("la %[p], 1f\n1: .option push\n.option rvc\nc.ebreak\n.option pop", [p] "=&r"(pc), );
    CHECK_EQUAL(trap.cause, BREAKPOINT);
    CHECK_EQUAL(trap.epc, pc);
}

static uint64_t do_ecall(uint64_t unused) {
    (void)unused;
    ATTEMPT("li a7, 0\necall", , );
    return trap.cause;
}

static void environment_calls(void) {
    CHECK_EQUAL(run_in(USER, do_ecall, 0), ECALL_U);
    CHECK_EQUAL(trap.status >> 11 & 3, USER);
    CHECK_EQUAL(trap.value, 0);
    CHECK_EQUAL(run_in(SUPERVISOR, do_ecall, 0), ECALL_S);
    CHECK_EQUAL(trap.status >> 11 & 3, SUPERVISOR);
    CHECK_EQUAL(run_in(MACHINE, do_ecall, 0), ECALL_M);
    CHECK_EQUAL(trap.status >> 11 & 3, MACHINE);
}

static void access_faults(void) {
    CHECK_EQUAL(try_load(UNMAPPED, 0), LOAD_ACCESS);
    CHECK_EQUAL(trap.value, UNMAPPED);
    CHECK_EQUAL(try_store(UNMAPPED + 8, 1), STORE_ACCESS);
    CHECK_EQUAL(trap.value, UNMAPPED + 8);
    CHECK_EQUAL(try_fetch(UNMAPPED), FETCH_ACCESS);
    CHECK_EQUAL(trap.value, UNMAPPED);
    CHECK_EQUAL(trap.epc, UNMAPPED);
    CHECK_EQUAL(try_load(UINT64_C(1) << 50, 0), LOAD_ACCESS);
    // Registers keep their values.
    uint64_t v = 0x1234;
    ATTEMPT("lw %[v], 0(%[a])", [v] "+&r"(v), [a] "r"(UNMAPPED));
    CHECK_EQUAL(v, 0x1234);
    ATTEMPT("lw %[v], 0(%[v])", [v] "+&r"(v), );
    CHECK_EQUAL(trap.cause == NO_TRAP ? 0x1234 : v, 0x1234);
}

static void misaligned_atomics(void) {
    const uint64_t a = (uint64_t)cells + 2;
    uint64_t v = 77;
    cells[0] = 5;
    ATTEMPT("amoadd.w %[v], %[v], (%[a])", [v] "+&r"(v), [a] "r"(a));
    CHECK(trap.cause == STORE_MISALIGNED || trap.cause == STORE_ACCESS);
    CHECK_EQUAL(trap.value, a);
    CHECK_EQUAL(v, 77);
    CHECK_EQUAL(cells[0], 5);
    ATTEMPT("lr.w %[v], (%[a])", [v] "+&r"(v), [a] "r"(a));
    CHECK(trap.cause == LOAD_MISALIGNED || trap.cause == LOAD_ACCESS);
    ATTEMPT("amoswap.d %[v], %[v], (%[a])", [v] "+&r"(v), [a] "r"(a + 2));
    CHECK(trap.cause == STORE_MISALIGNED || trap.cause == STORE_ACCESS);
    ATTEMPT("lr.d %[v], (%[a])", [v] "+&r"(v), [a] "r"(a + 2));
    CHECK(trap.cause == LOAD_MISALIGNED || trap.cause == LOAD_ACCESS);
    CHECK_EQUAL(cells[0], 5);
    ATTEMPT("lr.w %[v], (%[a])", [v] "+&r"(v), [a] "r"(UNMAPPED));
    CHECK_EQUAL(trap.cause, LOAD_ACCESS);
}

static void misaligned_data(void) {
    // Done in hardware or refused, but never wrong.
    uint8_t* bytes = (uint8_t*)cells;
    for (int i = 0; i < 32; ++i) bytes[i] = (uint8_t)(i * 7 + 1);
    for (uint64_t offset = 1; offset < 8; ++offset) {
        uint64_t v, wanted = 0;
        for (int i = 7; i >= 0; --i) wanted = wanted << 8 | bytes[offset + (uint64_t)i];
        const uint64_t cause = try_load((uint64_t)cells + offset, &v);
        CHECK(cause == NO_TRAP || cause == LOAD_MISALIGNED);
        if (cause == NO_TRAP) CHECK_EQUAL(v, wanted);
        CHECK(try_store((uint64_t)cells + offset, wanted) != STORE_ACCESS);
        CHECK_EQUAL(bytes[offset + 7], (offset + 7) * 7 + 1);
    }
}

static void trap_state(void) {
    // A trap stacks MIE and MPP, mret unstacks them and leaves U in MPP.
    set_csr(mstatus, MSTATUS_MIE);
    CHECK_EQUAL(CAUSE_OF("ebreak"), BREAKPOINT);
    CHECK_EQUAL(trap.status & MSTATUS_MIE, 0);
    CHECK_EQUAL(trap.status & MSTATUS_MPIE, MSTATUS_MPIE);
    CHECK_EQUAL(read_csr(mstatus) & MSTATUS_MIE, MSTATUS_MIE);
    CHECK_EQUAL(read_csr(mstatus) & MSTATUS_MPP, 0);
    clear_csr(mstatus, MSTATUS_MIE);
    CHECK_EQUAL(CAUSE_OF("ebreak"), BREAKPOINT);
    CHECK_EQUAL(trap.status & MSTATUS_MPIE, 0);
    CHECK_EQUAL(read_csr(mstatus) & MSTATUS_MIE, 0);
    CHECK_EQUAL(read_csr(mstatus) & MSTATUS_MPIE, MSTATUS_MPIE);
}

static void code_that_changes(void) {
    // ret; then addi a0, a0, 1; ret. With fence.i the new code runs.
    uint32_t* code = (uint32_t*)line_of_code;
    for (uint32_t round = 1; round < 40; ++round) {
        code[0] = 0x00050513 | round << 20;  // addi a0, a0, round
        code[1] = 0x00008067;                // ret
        asm volatile("fence.i" : : : "memory");
        CHECK_EQUAL(((uint64_t(*)(uint64_t))line_of_code)(100), 100 + round);
    }
    // The same with code at an odd halfword, written by bytes.
    uint8_t* odd = (uint8_t*)line_of_code + 10;
    for (unsigned round = 1; round < 20; ++round) {
        const uint32_t words[] = {0x00050513 | round << 20, 0x00008067};
        for (unsigned i = 0; i < 8; ++i) odd[i] = ((const uint8_t*)words)[i];
        asm volatile("fence.i" : : : "memory");
        CHECK_EQUAL(((uint64_t(*)(uint64_t))(uint64_t)odd)(7), 7 + round);
    }
}

void test(void) {
    illegal_instructions();
    breakpoints();
    environment_calls();
    access_faults();
    misaligned_atomics();
    misaligned_data();
    trap_state();
    code_that_changes();
}
