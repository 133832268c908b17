/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics of OpenCL C 2.0 (6.13.11), with orders and scopes as fences around the access. */
#include "base.h"

#define FENCE(bits) INSTRUCTION(GPU_FUNCT_FENCE, bits)
#define BY_SCOPE(bits)                                                                                         \
    do {                                                                                                       \
        if (scope == memory_scope_all_svm_devices)                                                             \
            FENCE(GPU_SCOPE_SYSTEM | bits);                                                                    \
        else if (scope == memory_scope_device)                                                                 \
            FENCE(GPU_SCOPE_AGENT | bits);                                                                     \
        else if (scope != memory_scope_work_item)                                                              \
            FENCE(GPU_SCOPE_WORK_GROUP | bits);                                                                \
    } while (0)
HELPER void before(memory_order order, memory_scope scope) {
    if (order == memory_order_release || order == memory_order_acq_rel || order == memory_order_seq_cst)
        BY_SCOPE(GPU_FENCE_RELEASE);
}
HELPER void after(memory_order order, memory_scope scope) {
    if (order == memory_order_acquire || order == memory_order_acq_rel || order == memory_order_seq_cst)
        BY_SCOPE(GPU_FENCE_ACQUIRE);
}

#define WORD(bits, T, suffix, load)                                                                            \
    HELPER T raw_load(volatile SPACE T* at) {                                                                \
        T value;                                                                                               \
        __asm__ volatile(".insn i " TEXT(GPU_OPCODE) ", " TEXT(load) ", %0, 0(%1)" : "=r"(value) : "r"(at) : "memory"); \
        return value;                                                                                          \
    }                                                                                                          \
    HELPER void raw_store(volatile SPACE T* at, T value) { *at = value; }                                    \
    HELPER T raw_swap(volatile SPACE T* at, T value) {                                                       \
        T old;                                                                                                 \
        __asm__ volatile("amoswap." suffix " %0, %2, (%1)" : "=r"(old) : "r"(at), "r"(value) : "memory");      \
        return old;                                                                                            \
    }                                                                                                          \
    HELPER T raw_compare_swap(volatile SPACE T* at, T expected, T desired) {                                 \
        long old, failed;                                                                                      \
        __asm__ volatile("1: lr." suffix " %0, (%2)\nbne %0, %3, 2f\nsc." suffix " %1, %4, (%2)\nbnez %1, 1b\n2:" \
                         : "=&r"(old), "=&r"(failed)                                                           \
                         : "r"(at), "r"((long)expected), "r"(desired)                                          \
                         : "memory");                                                                          \
        return (T)old;                                                                                         \
    }
#define ACCESSES(A, T, I, as_bits, as_value)                                                                   \
    OV void atomic_init(volatile SPACE A* at, T value) { raw_store((volatile SPACE I*)at, as_bits(value)); } \
    OV T atomic_load_explicit(volatile SPACE A* at, memory_order order, memory_scope scope) {                \
        if (order == memory_order_seq_cst) before(order, scope);                                               \
        const I bits = raw_load((volatile SPACE I*)at);                                                      \
        after(order, scope);                                                                                   \
        return as_value(bits);                                                                                 \
    }                                                                                                          \
    OV T atomic_load_explicit(volatile SPACE A* at, memory_order order) {                                    \
        return atomic_load_explicit(at, order, memory_scope_device);                                           \
    }                                                                                                          \
    OV T atomic_load(volatile SPACE A* at) {                                                                 \
        return atomic_load_explicit(at, memory_order_seq_cst, memory_scope_device);                            \
    }                                                                                                          \
    OV void atomic_store_explicit(volatile SPACE A* at, T value, memory_order order, memory_scope scope) {   \
        before(order, scope);                                                                                  \
        raw_store((volatile SPACE I*)at, as_bits(value));                                                    \
        if (order == memory_order_seq_cst) after(order, scope);                                                \
    }                                                                                                          \
    OV void atomic_store_explicit(volatile SPACE A* at, T value, memory_order order) {                       \
        atomic_store_explicit(at, value, order, memory_scope_device);                                          \
    }                                                                                                          \
    OV void atomic_store(volatile SPACE A* at, T value) {                                                    \
        atomic_store_explicit(at, value, memory_order_seq_cst, memory_scope_device);                           \
    }                                                                                                          \
    FETCH(A, T, atomic_exchange, as_value(raw_swap((volatile SPACE I*)at, as_bits(value))))                  \
    COMPARE_IN(A, T, I, as_bits, as_value, generic) COMPARE_IN(A, T, I, as_bits, as_value, global)             \
    COMPARE_IN(A, T, I, as_bits, as_value, local) COMPARE_IN(A, T, I, as_bits, as_value, private)
#define FETCH(A, T, f, operation)                                                                              \
    OV T f##_explicit(volatile SPACE A* at, T value, memory_order order, memory_scope scope) {               \
        before(order, scope);                                                                                  \
        const T old = operation;                                                                               \
        after(order, scope);                                                                                   \
        return old;                                                                                            \
    }                                                                                                          \
    OV T f##_explicit(volatile SPACE A* at, T value, memory_order order) {                                   \
        return f##_explicit(at, value, order, memory_scope_device);                                            \
    }                                                                                                          \
    OV T f(volatile SPACE A* at, T value) {                                                                  \
        return f##_explicit(at, value, memory_order_seq_cst, memory_scope_device);                             \
    }
#define COMPARE_IN(A, T, I, as_bits, as_value, space)                                                          \
    COMPARE(atomic_compare_exchange_strong, A, T, I, as_bits, as_value, space)                                 \
    COMPARE(atomic_compare_exchange_weak, A, T, I, as_bits, as_value, space)
#define COMPARE(f, A, T, I, as_bits, as_value, space)                                                          \
    OV bool f##_explicit(volatile SPACE A* at, space T* expected, T desired, memory_order success,           \
                         memory_order failure, memory_scope scope) {                                           \
        before(success, scope);                                                                                \
        const I wanted = as_bits(*expected), old = raw_compare_swap((volatile SPACE I*)at, wanted, as_bits(desired)); \
        if (old == wanted) {                                                                                   \
            after(success, scope);                                                                             \
            return true;                                                                                       \
        }                                                                                                      \
        *expected = as_value(old);                                                                             \
        after(failure, scope);                                                                                 \
        return false;                                                                                          \
    }                                                                                                          \
    OV bool f##_explicit(volatile SPACE A* at, space T* expected, T desired, memory_order success,           \
                         memory_order failure) {                                                               \
        return f##_explicit(at, expected, desired, success, failure, memory_scope_device);                     \
    }                                                                                                          \
    OV bool f(volatile SPACE A* at, space T* expected, T desired) {                                          \
        return f##_explicit(at, expected, desired, memory_order_seq_cst, memory_order_seq_cst, memory_scope_device); \
    }
#define SAME_BITS(x) (x)
#define AMO(instruction, T)                                                                                    \
    ({                                                                                                         \
        T old_;                                                                                                \
        __asm__ volatile(instruction " %0, %2, (%1)" : "=r"(old_) : "r"(at), "r"((T)value) : "memory");        \
        old_;                                                                                                  \
    })
#define ARITHMETIC(A, T, suffix, min, max)                                                                     \
    FETCH(A, T, atomic_fetch_add, AMO("amoadd." suffix, T))                                                    \
    FETCH(A, T, atomic_fetch_sub, ({ const T add_ = value; const T value = -add_; AMO("amoadd." suffix, T); })) \
    FETCH(A, T, atomic_fetch_or, AMO("amoor." suffix, T))                                                      \
    FETCH(A, T, atomic_fetch_xor, AMO("amoxor." suffix, T))                                                    \
    FETCH(A, T, atomic_fetch_and, AMO("amoand." suffix, T))                                                    \
    FETCH(A, T, atomic_fetch_min, AMO(min "." suffix, T))                                                      \
    FETCH(A, T, atomic_fetch_max, AMO(max "." suffix, T))

/* Instances for a pointer's address space. */
#define SPACE generic
#include "atomic2.h"
#undef SPACE
#define SPACE global
#include "atomic2.h"
#undef SPACE
#define SPACE local
#include "atomic2.h"
