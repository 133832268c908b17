/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels stand on. A kernel is a C function that runs once for each work-item:
 *
 *     struct arguments { const float *a; float *b; uint32_t n; };
 *
 *     KERNEL(scale, struct arguments)
 *     {
 *         size_t i = global_id(0);
 *         if (i < args->n) args->b[i] = 2 * args->a[i];
 *     }
 *
 * Kernels are compiled for RV64IMAFD without compressed instructions. Their image is read-only: no variable may have
 * static storage except constants and LDS variables. */
#ifndef FABRICVP_GPU_H
#define FABRICVP_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "abi/gpu_apertures.h"
#include "abi/gpu_isa.h"
#include "abi/kernel_descriptor.h"

#define GPU_INLINE static inline __attribute__((always_inline))
/* For what one lane does for all: registers that it needs are saved for that lane, where the others of a work-group
 * would each have them saved, line by line, if it were part of their function. */
#define GPU_APART static __attribute__((noinline, unused))
/* The condition of a call of such a function: what is alive across the call is then saved beside the call, by that
 * lane, and not where it is computed, by all lanes. */
#define gpu_rarely(condition) __builtin_expect(!!(condition), 0)
#define GPU_TEXT_(x) #x
#define GPU_TEXT(x) GPU_TEXT_(x)

/* Bytes of stack that a work-item gets; define it before including this file if a kernel needs another size (a multiple
 * of 16). <math.h> makes the default larger. */
#ifndef GPU_DEFAULT_STACK
#define GPU_DEFAULT_STACK 512
#endif
#ifndef KERNEL_STACK
#define KERNEL_STACK GPU_DEFAULT_STACK
#endif

/* A variable in the local data share: one for each work-group, undefined at first. */
#define LDS __attribute__((section(".lds"))) static
/* The dynamic part of the local data share, behind all LDS variables; its size comes with the dispatch. */
extern uint8_t lds_dynamic[];

/* Defines a kernel with arguments of a type; `args` points to them. */
/* clang-format off */
#define KERNEL(name, type)                                                                                       \
    static void name##_body(const type* args);                                                                   \
    __attribute__((noreturn, used, section(".text." #name "_entry"))) static void name##_entry(const type* args) { \
        __asm__ volatile(".pushsection .kernels, \"a\"\n"                                                        \
                         ".balign 8\n"                                                                           \
                         "1: .4byte " GPU_TEXT(KERNEL_DESCRIPTOR_MAGIC) ", %0\n"                                 \
                         ".8byte %1, 1b - " GPU_TEXT(GPU_CODE_BASE) "\n"                                         \
                         ".4byte __lds_size, %2\n"                                                               \
                         ".if %3 > 32\n"                                                                         \
                         ".8byte 0, 2f - " GPU_TEXT(GPU_CODE_BASE) ", 0, 0\n"                                    \
                         ".pushsection .rodata.names, \"a\"\n"                                                   \
                         "2: .asciz \"" #name "\"\n"                                                             \
                         ".popsection\n"                                                                         \
                         ".else\n"                                                                               \
                         "3: .asciz \"" #name "\"\n"                                                             \
                         ".zero 32 - (. - 3b)\n"                                                                 \
                         ".endif\n"                                                                              \
                         ".popsection"                                                                           \
                         :                                                                                       \
                         : "i"(sizeof(type)), "i"(name##_entry), "i"(KERNEL_STACK), "i"(sizeof(#name)));         \
        name##_body(args);                                                                                       \
        gpu_end();                                                                                               \
    }                                                                                                            \
    GPU_INLINE void name##_body(const type* args __attribute__((unused)))
/* clang-format on */

/* Custom instructions, CSRs. */
#define GPU_CSR(number)                                       \
    ({                                                        \
        uint64_t value_;                                      \
        __asm__("csrr %0, " GPU_TEXT(number) : "=r"(value_)); \
        value_;                                               \
    })
#define GPU_CSR_OF(first, dimension) \
    ((dimension) == 0 ? GPU_CSR(first) : (dimension) == 1 ? GPU_CSR(first + 1) : GPU_CSR(first + 2))

__attribute__((noreturn)) GPU_INLINE void gpu_end(void) {
    __asm__ volatile(".insn i " GPU_TEXT(GPU_OPCODE) ", " GPU_TEXT(GPU_FUNCT_END) ", x0, x0, 0" ::: "memory");
    __builtin_unreachable();
}

/* Identifiers; `dimension` is a constant 0, 1 or 2. */
#define local_id(dimension) ((size_t)GPU_CSR_OF(GPU_CSR_LOCAL_ID_X, dimension))
#define group_id(dimension) ((size_t)GPU_CSR_OF(GPU_CSR_GROUP_ID_X, dimension))
#define group_size(dimension)                                                              \
    ((size_t)GPU_CSR_OF(GPU_CSR_GROUP_SIZE_X, dimension)) /* the last group may be smaller \
                                                           */
#define grid_size(dimension) ((size_t)GPU_CSR_OF(GPU_CSR_GRID_SIZE_X, dimension))
#define global_id(dimension) (group_id(dimension) * group_size(dimension) + local_id(dimension))
#define group_count(dimension) ((grid_size(dimension) + group_size(dimension) - 1) / group_size(dimension))
#define lane_id() ((unsigned)GPU_CSR(GPU_CSR_LANE))
#define wavefront_id() ((unsigned)GPU_CSR(GPU_CSR_WAVEFRONT))
#define gpu_id() ((unsigned)GPU_CSR(GPU_CSR_GPU))
#define compute_unit_id() ((unsigned)GPU_CSR(GPU_CSR_COMPUTE_UNIT))

GPU_INLINE uint64_t gpu_cycle(void) {
    uint64_t value;
    __asm__ volatile("csrr %0, " GPU_TEXT(GPU_CSR_CYCLE) : "=r"(value));
    return value;
}
GPU_INLINE uint64_t gpu_time_ns(void) {
    uint64_t value;
    __asm__ volatile("csrr %0, " GPU_TEXT(GPU_CSR_TIME) : "=r"(value));
    return value;
}

/* Waits until every work-item of the work-group is here; memory of the work-group is consistent then. */
GPU_INLINE void barrier(void) {
    __asm__ volatile(".insn i " GPU_TEXT(GPU_OPCODE) ", " GPU_TEXT(GPU_FUNCT_BARRIER) ", x0, x0, 0" ::: "memory");
}

/* Lets other lanes of the wavefront run. To be used in loops that wait for another lane. */
GPU_INLINE void gpu_pause(void) { __asm__ volatile(".word 0x0100000f" ::: "memory"); }

/* Fences; scope is GPU_SCOPE_WORK_GROUP, _AGENT or _SYSTEM. */
#define GPU_FENCE(bits)                                                                                        \
    __asm__ volatile(".insn i " GPU_TEXT(GPU_OPCODE) ", " GPU_TEXT(GPU_FUNCT_FENCE) ", x0, x0, %0" ::"i"(bits) \
                     : "memory")
#define fence_acquire(scope) GPU_FENCE((scope) | GPU_FENCE_ACQUIRE)
#define fence_release(scope) GPU_FENCE((scope) | GPU_FENCE_RELEASE)
#define fence_full(scope) GPU_FENCE((scope) | GPU_FENCE_ACQUIRE | GPU_FENCE_RELEASE)

/* Loads that see what other compute units, GPUs and the host have written: they bypass the L1 cache. */
GPU_INLINE uint32_t load_scoped_u32(const volatile void* from) {
    int64_t value;
    __asm__ volatile(".insn i " GPU_TEXT(GPU_OPCODE) ", " GPU_TEXT(GPU_FUNCT_LOAD_W) ", %0, 0(%1)"
                     : "=r"(value)
                     : "r"(from)
                     : "memory");
    return (uint32_t)value;
}
GPU_INLINE uint64_t load_scoped_u64(const volatile void* from) {
    uint64_t value;
    __asm__ volatile(".insn i " GPU_TEXT(GPU_OPCODE) ", " GPU_TEXT(GPU_FUNCT_LOAD_D) ", %0, 0(%1)"
                     : "=r"(value)
                     : "r"(from)
                     : "memory");
    return value;
}
#define load_acquire_u32(from, scope)                   \
    ({                                                  \
        const uint32_t loaded_ = load_scoped_u32(from); \
        fence_acquire(scope);                           \
        loaded_;                                        \
    })
#define load_acquire_u64(from, scope)                   \
    ({                                                  \
        const uint64_t loaded_ = load_scoped_u64(from); \
        fence_acquire(scope);                           \
        loaded_;                                        \
    })
#define store_release(to, value, scope)               \
    do {                                              \
        fence_release(scope);                         \
        *(volatile __typeof__(*(to))*)(to) = (value); \
    } while (0)

/* Atomics, performed where all can see them, without order; put fences around them where order matters. The ones
 * without a result cost no wait. */
#define GPU_ATOMIC(name, instruction, type, suffix)                                                              \
    GPU_INLINE type atomic_##name(volatile type* at, type operand) {                                             \
        type old;                                                                                                \
        __asm__ volatile(instruction "." suffix " %0, %2, (%1)" : "=r"(old) : "r"(at), "r"(operand) : "memory"); \
        return old;                                                                                              \
    }
#define GPU_ATOMICS(bits, suffix)                               \
    GPU_ATOMIC(add_u##bits, "amoadd", uint##bits##_t, suffix)   \
    GPU_ATOMIC(and_u##bits, "amoand", uint##bits##_t, suffix)   \
    GPU_ATOMIC(or_u##bits, "amoor", uint##bits##_t, suffix)     \
    GPU_ATOMIC(xor_u##bits, "amoxor", uint##bits##_t, suffix)   \
    GPU_ATOMIC(swap_u##bits, "amoswap", uint##bits##_t, suffix) \
    GPU_ATOMIC(min_u##bits, "amominu", uint##bits##_t, suffix)  \
    GPU_ATOMIC(max_u##bits, "amomaxu", uint##bits##_t, suffix)  \
    GPU_ATOMIC(min_i##bits, "amomin", int##bits##_t, suffix)    \
    GPU_ATOMIC(max_i##bits, "amomax", int##bits##_t, suffix)
GPU_ATOMICS(32, "w")
GPU_ATOMICS(64, "d")

/* Adds without asking for the old value. */
GPU_INLINE void atomic_increase_u32(volatile uint32_t* at, uint32_t operand) {
    __asm__ volatile("amoadd.w x0, %1, (%0)" : : "r"(at), "r"(operand) : "memory");
}
GPU_INLINE void atomic_increase_u64(volatile uint64_t* at, uint64_t operand) {
    __asm__ volatile("amoadd.d x0, %1, (%0)" : : "r"(at), "r"(operand) : "memory");
}

/* Adds numbers, rounded to nearest, where the integers' atomics are performed. The last bits of a sum depend on the
 * order in which they arrive. */
#define GPU_ATOMIC_SUM(name, type, bits, operation)                                                                 \
    GPU_INLINE type atomic_add_##name(volatile type* at, type operand) {                                            \
        union {                                                                                                     \
            type number;                                                                                            \
            bits image;                                                                                             \
        } old, add = {operand};                                                                                     \
        __asm__ volatile(                                                                                           \
            ".insn r " GPU_TEXT(GPU_OPCODE) ", " GPU_TEXT(GPU_FUNCT_ATOMIC) ", " GPU_TEXT(operation) ", %0, %1, %2" \
            : "=r"(old.image)                                                                                       \
            : "r"(at), "r"(add.image)                                                                               \
            : "memory");                                                                                            \
        return old.number;                                                                                          \
    }
GPU_ATOMIC_SUM(f32, float, uint32_t, GPU_ATOMIC_ADD_S)
GPU_ATOMIC_SUM(f64, double, uint64_t, GPU_ATOMIC_ADD_D)

/* Stores `desired` where `expected` stands. Returns what stood there. */
#define GPU_COMPARE_SWAP(bits, suffix, extend)                                                           \
    GPU_INLINE uint##bits##_t compare_swap_u##bits(volatile uint##bits##_t* at, uint##bits##_t expected, \
                                                   uint##bits##_t desired) {                             \
        uint64_t old, failed;                                                                            \
        __asm__ volatile("1: lr." suffix                                                                 \
                         " %0, (%2)\n"                                                                   \
                         "bne %0, %3, 2f\n"                                                              \
                         "sc." suffix                                                                    \
                         " %1, %4, (%2)\n"                                                               \
                         "bnez %1, 1b\n"                                                                 \
                         "2:"                                                                            \
                         : "=&r"(old), "=&r"(failed)                                                     \
                         : "r"(at), "r"((uint64_t)(extend)expected), "r"(desired)                        \
                         : "memory");                                                                    \
        return (uint##bits##_t)old;                                                                      \
    }
GPU_COMPARE_SWAP(32, "w", int32_t)
GPU_COMPARE_SWAP(64, "d", int64_t)

#endif
