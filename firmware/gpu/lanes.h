/* SPDX-License-Identifier: Apache-2.0 */
/* Operations between the lanes of a wavefront, for kernels in C; those of HIP and CUDA (hip/device.h) are made of them.
 * They concern the lanes that execute them together: all lanes of the wavefront that come there, since lanes reconverge
 * where control flow joins. Where a mask is given, the lanes of the mask wait for each other first. Each of them gives
 * the same mask; lanes that have ended are not waited for. Bit n of a mask is lane n. GCC must not copy blocks of code,
 * as it does with -O3. */
#ifndef FABRICVP_GPU_LANES_H
#define FABRICVP_GPU_LANES_H

#include "abi/gpu_isa.h"

#ifndef WAVEFRONT_LANES
#define WAVEFRONT_LANES 64
#endif
#ifndef LANES_FUNCTION
#define LANES_FUNCTION static inline __attribute__((always_inline, unused))
#endif
#define LANES_TEXT_(x) #x
#define LANES_TEXT(x) LANES_TEXT_(x)
#define LANES_INSTRUCTION(operation, operands) \
    ".insn r " LANES_TEXT(GPU_OPCODE) ", " LANES_TEXT(GPU_FUNCT_LANES) ", " LANES_TEXT(operation) ", " operands

LANES_FUNCTION unsigned lane_number(void) {
    unsigned long value;
    __asm__("csrr %0, " LANES_TEXT(GPU_CSR_LANE) : "=r"(value));
    return (unsigned)value;
}
/* The lanes that are here. */
LANES_FUNCTION unsigned long lane_active(void) {
    unsigned long mask;
    __asm__ volatile(LANES_INSTRUCTION(GPU_LANES_ACTIVE, "%0, x0, x0") : "=r"(mask));
    return mask;
}
/* Those of them for which a condition holds. */
LANES_FUNCTION unsigned long lane_ballot(int condition) {
    unsigned long mask;
    __asm__ volatile(LANES_INSTRUCTION(GPU_LANES_BALLOT, "%0, %1, x0") : "=r"(mask) : "r"((long)condition));
    return mask;
}
/* Waits until all live lanes of the mask are at this place with this mask. */
LANES_FUNCTION void lane_sync(unsigned long mask) {
    __asm__ volatile(LANES_INSTRUCTION(GPU_LANES_SYNC, "x0, %0, x0")::"r"(mask) : "memory");
}
/* The same at any place with a lane_barrier(). What lanes of the mask wrote before, they all see behind it: accesses of
 * a wavefront to one line stay in order, so loads and local memory are all that the fence waits for. */
LANES_FUNCTION void lane_barrier(unsigned long mask) {
    __asm__ volatile(LANES_INSTRUCTION(GPU_LANES_SYNC_ANY, "x0, %0, x0")::"r"(mask) : "memory");
    __asm__ volatile(".insn i " LANES_TEXT(GPU_OPCODE) ", " LANES_TEXT(GPU_FUNCT_FENCE) ", x0, x0, %0" ::"i"(
                         GPU_SCOPE_WORK_GROUP | GPU_FENCE_ACQUIRE)
                     : "memory");
}
/* Waits until all live lanes of the mask wait with this mask at an exchange of the same kind (a literal from 0 to 31),
 * and gives them a value. The functions _of concern these lanes then, wherever they go on. */
#define lane_exchange(mask, value, kind)                                                                    \
    __asm__ volatile(                                                                                       \
        LANES_INSTRUCTION(GPU_LANES_EXCHANGE, "x" LANES_TEXT(kind) ", %0, %1")::"r"((unsigned long)(mask)), \
        "r"((long)(value))                                                                                  \
        : "memory")
LANES_FUNCTION unsigned long lane_ballot_of(int condition) {
    unsigned long mask;
    __asm__ volatile(LANES_INSTRUCTION(GPU_LANES_BALLOT_OF, "%0, %1, x0") : "=r"(mask) : "r"((long)condition));
    return mask;
}
/* Kinds of exchanges that the functions here use. */
#define LANES_KIND_AT 0
#define LANES_KIND_BELOW 1
#define LANES_KIND_ABOVE 2
#define LANES_KIND_ACROSS 3
#define LANES_KIND_BALLOT 4
#define LANES_KIND_ANY 5
#define LANES_KIND_ALL 6
LANES_FUNCTION int lane_any(unsigned long mask, int condition) {
    lane_exchange(mask, condition != 0, LANES_KIND_ANY);
    return (lane_ballot_of(condition) & mask) != 0;
}
LANES_FUNCTION int lane_all(unsigned long mask, int condition) {
    lane_exchange(mask, !condition, LANES_KIND_ALL);
    return (lane_ballot_of(!condition) & mask) == 0;
}

/* Lanes that a lane reads from. A width, a power of two, cuts the wavefront into parts. Where the lane would lie
 * outside of the part, the number is the lane's own or one that no lane has, which means the same. */
LANES_FUNCTION unsigned lane_at(unsigned number, unsigned width) {
    if (width == WAVEFRONT_LANES) return number % WAVEFRONT_LANES;
    return (lane_number() & -width) | (number & (width - 1));
}
LANES_FUNCTION unsigned lane_below(unsigned distance, unsigned width) {
    const unsigned own = lane_number();
    if (width == WAVEFRONT_LANES) return own - distance;
    return distance > (own & (width - 1)) ? own : own - distance;
}
LANES_FUNCTION unsigned lane_above(unsigned distance, unsigned width) {
    const unsigned own = lane_number();
    if (width == WAVEFRONT_LANES) return own + distance;
    return distance >= width - (own & (width - 1)) ? own : own + distance;
}
/* It may lie in an earlier part. */
LANES_FUNCTION unsigned lane_across(unsigned bits, unsigned width) {
    const unsigned own = lane_number(), other = own ^ bits;
    if (width == WAVEFRONT_LANES) return other;
    return other > (own | (width - 1)) ? own : other;
}

/* Values of another lane, or the lane's own where that one is not here. */
#define LANES_SHUFFLE(name, type, word, operation)                                                         \
    LANES_FUNCTION type lane_shuffle_##name(type value, unsigned from) {                                   \
        word bits, moved;                                                                                  \
        __builtin_memcpy(&bits, &value, sizeof bits);                                                      \
        __asm__ volatile(LANES_INSTRUCTION(operation, "%0, %1, %2") : "=r"(moved) : "r"(bits), "r"(from)); \
        __builtin_memcpy(&value, &moved, sizeof moved);                                                    \
        return value;                                                                                      \
    }
LANES_SHUFFLE(u32, unsigned, int, GPU_LANES_SHUFFLE_W)
LANES_SHUFFLE(i32, int, int, GPU_LANES_SHUFFLE_W)
LANES_SHUFFLE(f32, float, int, GPU_LANES_SHUFFLE_W)
LANES_SHUFFLE(u64, unsigned long, long, GPU_LANES_SHUFFLE_D)
LANES_SHUFFLE(i64, long, long, GPU_LANES_SHUFFLE_D)
LANES_SHUFFLE(f64, double, long, GPU_LANES_SHUFFLE_D)
/* The same of lanes that have met at the last exchange, whose value they had given there. */
LANES_SHUFFLE(of_u32, unsigned, int, GPU_LANES_SHUFFLE_W_OF)
LANES_SHUFFLE(of_u64, unsigned long, long, GPU_LANES_SHUFFLE_D_OF)

/* Waits until all live lanes of the mask are at such a function with this mask, and gives these. Kinds 7 to 9 are its
 * own and of the exchanges behind it, where lanes are found at several places. */
#define LANES_KIND_GATHER 7
#define LANES_KIND_VALUE 8
#define LANES_KIND_VERDICT 9
LANES_FUNCTION unsigned long lane_gather(unsigned long mask) {
    lane_exchange(mask, 1, LANES_KIND_GATHER);
    return lane_ballot_of(1) & mask;
}

/* The lanes of the mask that have this lane's value. */
#define LANES_MATCH(name, type)                                                               \
    LANES_FUNCTION unsigned long lane_match_##name(unsigned long mask, type value) {          \
        unsigned long left = lane_gather(mask), own = 0;                                      \
        if (left != (mask & lane_active())) { /* some are at another place */                 \
            lane_exchange(mask, value, LANES_KIND_VALUE);                                     \
            for (; left; left &= left - 1) {                                                  \
                const unsigned lane = (unsigned)__builtin_ctzl(left);                         \
                own |= (unsigned long)(lane_shuffle_of_##name(value, lane) == value) << lane; \
            }                                                                                 \
            return own;                                                                       \
        }                                                                                     \
        while (left) {                                                                        \
            const type first = lane_shuffle_##name(value, (unsigned)__builtin_ctzl(left));    \
            const unsigned long same = lane_ballot(first == value) & left;                    \
            if (first == value) own = same;                                                   \
            left &= ~same;                                                                    \
        }                                                                                     \
        return own;                                                                           \
    }                                                                                         \
    /* Whether all lanes of the mask have one value. */                                       \
    LANES_FUNCTION int lane_match_all_##name(unsigned long mask, type value) {                \
        const unsigned long here = lane_gather(mask);                                         \
        const unsigned lane = (unsigned)__builtin_ctzl(here);                                 \
        if (here == (mask & lane_active()))                                                   \
            return (lane_ballot(lane_shuffle_##name(value, lane) == value) & here) == here;   \
        lane_exchange(mask, value, LANES_KIND_VALUE);                                         \
        const int differs = lane_shuffle_of_##name(value, lane) != value;                     \
        lane_exchange(mask, differs, LANES_KIND_VERDICT);                                     \
        return (lane_ballot_of(differs) & here) == 0;                                         \
    }
LANES_MATCH(u32, unsigned)
LANES_MATCH(u64, unsigned long)

/* Reductions over the lanes of the mask. With lanes missing, each lane takes the sum of the next one in the mask, the
 * next but one, and so on; the first one has it all then. With lanes at several places each takes the values of all. */
#define LANES_REDUCE(operation, name, type, expression)                                                    \
    LANES_FUNCTION type lane_reduce_##operation##_##name(unsigned long mask, type value) {                 \
        const unsigned own = lane_number();                                                                \
        const unsigned long here = lane_gather(mask);                                                      \
        if (here != (mask & lane_active())) {                                                              \
            lane_exchange(mask, value, LANES_KIND_VALUE);                                                  \
            unsigned long left = here;                                                                     \
            type all = (type)lane_shuffle_of_u32((unsigned)value, (unsigned)__builtin_ctzl(left));         \
            while (left &= left - 1) {                                                                     \
                const type a = all;                                                                        \
                const type b = (type)lane_shuffle_of_u32((unsigned)value, (unsigned)__builtin_ctzl(left)); \
                all = expression;                                                                          \
            }                                                                                              \
            return all;                                                                                    \
        }                                                                                                  \
        const unsigned long above = here & (~1ul << own);                                                  \
        if (here == ~0ul >> (64 - WAVEFRONT_LANES)) {                                                      \
            for (unsigned distance = WAVEFRONT_LANES / 2; distance; distance /= 2) {                       \
                const type a = value, b = lane_shuffle_##name(value, own ^ distance);                      \
                value = expression;                                                                        \
            }                                                                                              \
            return value;                                                                                  \
        }                                                                                                  \
        unsigned next = above ? (unsigned)__builtin_ctzl(above) : WAVEFRONT_LANES;                         \
        for (unsigned distance = 1; distance < WAVEFRONT_LANES; distance *= 2) {                           \
            const type a = value, b = lane_shuffle_##name(value, next);                                    \
            const unsigned after = lane_shuffle_u32(next, next);                                           \
            value = next < WAVEFRONT_LANES ? (expression) : value;                                         \
            next = after;                                                                                  \
        }                                                                                                  \
        return lane_shuffle_##name(value, (unsigned)__builtin_ctzl(here));                                 \
    }
LANES_REDUCE(add, u32, unsigned, a + b)
LANES_REDUCE(add, i32, int, (int)((unsigned)a + (unsigned)b))
LANES_REDUCE(min, u32, unsigned, b < a ? b : a)
LANES_REDUCE(min, i32, int, b < a ? b : a)
LANES_REDUCE(max, u32, unsigned, a < b ? b : a)
LANES_REDUCE(max, i32, int, a < b ? b : a)
LANES_REDUCE(and, u32, unsigned, (a & b))
LANES_REDUCE(or, u32, unsigned, (a | b))
LANES_REDUCE(xor, u32, unsigned, a ^ b)

#endif
