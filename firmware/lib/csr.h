/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_LIB_CSR_H
#define FABRICVP_LIB_CSR_H

#define csr_read(name)                                            \
    ({                                                            \
        unsigned long v_;                                         \
        __asm__ volatile("csrr %0, " #name : "=r"(v_)::"memory"); \
        v_;                                                       \
    })
#define csr_write(name, value) __asm__ volatile("csrw " #name ", %0" ::"rK"((unsigned long)(value)) : "memory")
#define csr_set(name, bits) __asm__ volatile("csrs " #name ", %0" ::"rK"((unsigned long)(bits)) : "memory")
#define csr_clear(name, bits) __asm__ volatile("csrc " #name ", %0" ::"rK"((unsigned long)(bits)) : "memory")

#define MSTATUS_MIE 0x8ul
#define MSTATUS_FLOATS (1ul << 13) /* floating point is on */
#define MIE_SOFTWARE (1ul << 3)
#define MIE_TIMER (1ul << 7)
#define MIE_EXTERNAL (1ul << 11)
#define MCAUSE_INTERRUPT (1ul << 63)

#endif
