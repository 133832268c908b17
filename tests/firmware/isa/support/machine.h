// SPDX-License-Identifier: Apache-2.0
// Traps, modes and page tables for tests of the privileged architecture.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "abi/memory_map.h"
#include "report.h"

enum { USER = 0, SUPERVISOR = 1, MACHINE = 3 };

enum {
    FETCH_MISALIGNED = 0,
    FETCH_ACCESS = 1,
    ILLEGAL = 2,
    BREAKPOINT = 3,
    LOAD_MISALIGNED = 4,
    LOAD_ACCESS = 5,
    STORE_MISALIGNED = 6,
    STORE_ACCESS = 7,
    ECALL_U = 8,
    ECALL_S = 9,
    ECALL_M = 11,
    FETCH_PAGE = 12,
    LOAD_PAGE = 13,
    STORE_PAGE = 15,
    NO_TRAP = 99
};
enum { SSI = 1, MSI = 3, STI = 5, MTI = 7, SEI = 9, MEI = 11 };
#define INTERRUPT (UINT64_C(1) << 63)

#define MSTATUS_SIE (UINT64_C(1) << 1)
#define MSTATUS_MIE (UINT64_C(1) << 3)
#define MSTATUS_SPIE (UINT64_C(1) << 5)
#define MSTATUS_MPIE (UINT64_C(1) << 7)
#define MSTATUS_SPP (UINT64_C(1) << 8)
#define MSTATUS_MPP (UINT64_C(3) << 11)
#define MSTATUS_FS (UINT64_C(3) << 13)
#define MSTATUS_MPRV (UINT64_C(1) << 17)
#define MSTATUS_SUM (UINT64_C(1) << 18)
#define MSTATUS_MXR (UINT64_C(1) << 19)
#define MSTATUS_TVM (UINT64_C(1) << 20)
#define MSTATUS_TW (UINT64_C(1) << 21)
#define MSTATUS_TSR (UINT64_C(1) << 22)
#define MSTATUS_SD (UINT64_C(1) << 63)

#define read_csr(name)                                           \
    ({                                                           \
        uint64_t v_;                                             \
        asm volatile("csrr %0, " #name : "=r"(v_) : : "memory"); \
        v_;                                                      \
    })
#define write_csr(name, value) asm volatile("csrw " #name ", %0" : : "r"((uint64_t)(value)) : "memory")
#define set_csr(name, value) asm volatile("csrs " #name ", %0" : : "r"((uint64_t)(value)) : "memory")
#define clear_csr(name, value) asm volatile("csrc " #name ", %0" : : "r"((uint64_t)(value)) : "memory")

/// What the last trap left behind.
struct trap_record {
    uint64_t resume;      ///< where to go on after an expected exception; 0: none is expected
    uint64_t cause;       ///< mcause or scause, NO_TRAP if there was none
    uint64_t epc, value;  ///< xepc, xtval
    uint64_t status;      ///< mstatus or sstatus in the handler
    uint64_t level;       ///< mode that handled it
    uint64_t interrupts;  ///< number of interrupts taken
    uint64_t order[16];   ///< their codes
};
extern struct trap_record trap;
extern uint64_t vector_taken[2];

/// Executes assembly that may trap; trap.cause tells. t0, t1, t2 and ra are free to use.
#define ATTEMPT(code, outputs, inputs...)                                                                      \
    do {                                                                                                       \
        trap.cause = NO_TRAP;                                                                                  \
        asm volatile("la t0, 9f\n\tla t1, trap\n\tsd t0, 0(t1)\n\t" code "\n9:\tla t1, trap\n\tsd zero, 0(t1)" \
                     : outputs:inputs                                                                          \
                     : "t0", "t1", "t2", "ra", "memory");                                                      \
    } while (0)
/// The trap cause of one instruction without operands.
#define CAUSE_OF(code)     \
    ({                     \
        ATTEMPT(code, , ); \
        trap.cause;        \
    })

uint64_t try_load(uint64_t address, uint64_t* value);  ///< 8 bytes; \returns the cause
uint64_t try_store(uint64_t address, uint64_t value);
uint64_t try_fetch(uint64_t address);  ///< calls what must be a `ret`

/// Calls fn(argument) in a mode and returns its value. M mode calls directly.
uint64_t run_in(unsigned mode, uint64_t (*fn)(uint64_t), uint64_t argument);

/// Vectors, scratch registers, an all-open PMP entry 0, no delegation. Called before test().
void machine_setup(void);
void test(void);
extern const char suite_name[];

void failed(uint64_t line, const char* what) __attribute__((noreturn));
#define CHECK(condition)                                \
    do {                                                \
        if (!(condition)) failed(__LINE__, #condition); \
    } while (0)
/// Like CHECK, and prints the values.
#define CHECK_EQUAL(got, wanted)                                                    \
    do {                                                                            \
        const uint64_t got_ = (uint64_t)(got), wanted_ = (uint64_t)(wanted);        \
        if (got_ != wanted_) mismatch(__LINE__, #got " = " #wanted, got_, wanted_); \
    } while (0)
void mismatch(uint64_t line, const char* what, uint64_t got, uint64_t wanted) __attribute__((noreturn));

// Devices
static inline volatile uint32_t* msip(void) { return (volatile uint32_t*)VIRT_CLINT_BASE; }
static inline volatile uint64_t* mtimecmp(void) { return (volatile uint64_t*)(VIRT_CLINT_BASE + 0x4000); }
static inline volatile uint64_t* mtime(void) { return (volatile uint64_t*)(VIRT_CLINT_BASE + 0xbff8); }

// Page tables
enum { PTE_V = 1, PTE_R = 2, PTE_W = 4, PTE_X = 8, PTE_U = 16, PTE_G = 32, PTE_A = 64, PTE_D = 128 };
enum { PTE_AD = PTE_A | PTE_D, PTE_RWX = PTE_R | PTE_W | PTE_X };

/// Starts an empty table with `levels` levels (3 or 4).
void tables_begin(unsigned levels);
/// Maps one page of level `level` (0: 4 KiB); \returns its entry, to be changed at will.
uint64_t* map(uint64_t address, uint64_t physical, unsigned level, uint64_t flags);
/// Identity-maps devices and this program; the program's pages carry U if `user`.
void map_program(int user);
uint64_t satp_value(void);
static inline void flush_translations(void) { asm volatile("sfence.vma" : : : "memory"); }
