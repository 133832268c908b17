/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics of OpenCL C 1.2 (6.12.11): relaxed, performed where all work-items see them. */
#include "base.h"

#define AMO(name, T, instruction, suffix, ...)                                                                  \
    __VA_ARGS__(global, name, T, instruction "." suffix) __VA_ARGS__(local, name, T, instruction "." suffix)
#define FETCH(space, name, T, instruction)                                                                      \
    OV T name(volatile space T* at, T operand) {                                                                \
        T old;                                                                                                  \
        __asm__ volatile(instruction " %0, %2, (%1)" : "=r"(old) : "r"(at), "r"(operand) : "memory");           \
        return old;                                                                                             \
    }
#define ARITHMETIC(prefix, T, suffix, min, max)                                                                 \
    AMO(prefix##_add, T, "amoadd", suffix, FETCH)                                                               \
    AMO(prefix##_xchg, T, "amoswap", suffix, FETCH)                                                             \
    AMO(prefix##_min, T, min, suffix, FETCH)                                                                    \
    AMO(prefix##_max, T, max, suffix, FETCH)                                                                    \
    AMO(prefix##_and, T, "amoand", suffix, FETCH)                                                               \
    AMO(prefix##_or, T, "amoor", suffix, FETCH)                                                                 \
    AMO(prefix##_xor, T, "amoxor", suffix, FETCH)                                                               \
    REST(global, prefix, T, suffix)                                                                             \
    REST(local, prefix, T, suffix)
#define REST(space, prefix, T, suffix)                                                                          \
    OV T prefix##_sub(volatile space T* at, T operand) { return prefix##_add(at, (T)-operand); }                \
    OV T prefix##_inc(volatile space T* at) { return prefix##_add(at, (T)1); }                                  \
    OV T prefix##_dec(volatile space T* at) { return prefix##_add(at, (T)-1); }                                 \
    OV T prefix##_cmpxchg(volatile space T* at, T expected, T desired) {                                        \
        long old, failed;                                                                                       \
        __asm__ volatile("1: lr." suffix " %0, (%2)\nbne %0, %3, 2f\nsc." suffix " %1, %4, (%2)\nbnez %1, 1b\n2:" \
                         : "=&r"(old), "=&r"(failed)                                                            \
                         : "r"(at), "r"(SIGNED(T, expected)), "r"(desired)                                      \
                         : "memory");                                                                           \
        return (T)old;                                                                                          \
    }
/* lr.w extends the sign, also of an unsigned word. */
#define SIGNED(T, value) (sizeof(T) == 4 ? (long)(int)(value) : (long)(value))

ARITHMETIC(atomic, int, "w", "amomin", "amomax")
ARITHMETIC(atomic, uint, "w", "amominu", "amomaxu")
ARITHMETIC(atom, int, "w", "amomin", "amomax")
ARITHMETIC(atom, uint, "w", "amominu", "amomaxu")
ARITHMETIC(atom, long, "d", "amomin", "amomax")
ARITHMETIC(atom, ulong, "d", "amominu", "amomaxu")

#define EXCHANGE_FLOAT(space)                                                                                   \
    OV float atomic_xchg(volatile space float* at, float operand) {                                             \
        return as_float(atomic_xchg((volatile space int*)at, as_int(operand)));                                 \
    }
EXCHANGE_FLOAT(global)
EXCHANGE_FLOAT(local)
