/* SPDX-License-Identifier: Apache-2.0 */
/* Small kernels that each load one unit of the GPU and time themselves, as people measure GPUs that they cannot open.
 * Every wavefront reports the cycles of its first lane; instructions that are measured are written in assembly, so that
 * no compiler removes, merges or reorders them. */
#include "microbenchmarks.h"
#include "gpu.h"

#define REPEAT GPU_TEXT(MICROBENCHMARK_REPEATS)

/* The wavefront's number in the grid (one dimension, groups of whole wavefronts). */
GPU_INLINE size_t wavefront_number(void) { return global_id(0) / 64; }

/* The cycle at which `value` is there: the moves wait for the register. */
GPU_INLINE uint64_t cycle_after(uint64_t value) {
    __asm__ volatile("mv %0, %0" : "+r"(value)::"memory");
    return gpu_cycle();
}

GPU_INLINE void report(const struct microbenchmark_arguments* args, uint64_t first, uint64_t last) {
    if (lane_id() != 0) return;
    args->times[2 * wavefront_number()] = first;
    args->times[2 * wavefront_number() + 1] = last;
}

/* Follows offsets from one 64-bit word to the next, one at a time: latency. The host has written the order. */
KERNEL(chase, struct microbenchmark_arguments) {
    const uint8_t* const data = args->data;
    uint64_t at = 0;
    for (uint64_t i = 0; i < args->warm; ++i) at = *(const volatile uint64_t*)(data + at);
    const uint64_t first = cycle_after(at);
    for (uint64_t i = 0; i < args->rounds; ++i) at = *(const volatile uint64_t*)(data + at);
    report(args, first, cycle_after(at));
    if (lane_id() == 0) args->sum[wavefront_number()] = at;
}

/* The same with loads that bypass the L1. */
KERNEL(chase_scoped, struct microbenchmark_arguments) {
    const uint8_t* const data = args->data;
    uint64_t at = 0;
    for (uint64_t i = 0; i < args->warm; ++i) at = load_scoped_u64(data + at);
    const uint64_t first = cycle_after(at);
    for (uint64_t i = 0; i < args->rounds; ++i) at = load_scoped_u64(data + at);
    report(args, first, cycle_after(at));
    if (lane_id() == 0) args->sum[wavefront_number()] = at;
}

/* Where a wavefront begins in a pass over `data`, `turn` bytes further than in the first pass. */
GPU_INLINE uint8_t* chunk_at(const struct microbenchmark_arguments* args, uint64_t offset, uint64_t turn) {
    const uint64_t at = offset + turn;
    return args->data + (at < args->bytes ? at : at - args->bytes) + 8 * lane_id();
}

/* A barrier of the whole grid, once; all work-groups must be resident. The last word of `sum` counts them. */
GPU_INLINE void grid_barrier(const struct microbenchmark_arguments* args) {
    uint64_t* const arrived = &args->sum[grid_size(0) - 1];
    barrier();
    if (local_id(0) == 0) atomic_add_u64(arrived, 1);
    if (local_id(0) < 64) /* a whole wavefront polls, so that its lanes stay together */
        while (load_scoped_u64(arrived) < group_count(0)) {
        }
    barrier();
}

/* Wavefront w reads chunks w, w + wavefronts, … of `data`, eight words a lane at a time; `warm` passes before the timed
 * ones, behind a barrier of the grid. With a stride of 0, what the L1 caches can hold is there the next time. A stride
 * (a multiple of the chunk) lets each pass begin that much further, so that compute units read what others have read:
 * nothing hits L1. */
GPU_INLINE uint64_t read_passes(const struct microbenchmark_arguments* args, uint64_t first, uint64_t last) {
    const uint64_t all = grid_size(0) / 64 * MICROBENCHMARK_CHUNK;
    uint64_t sum = 0, turn = first * args->stride % args->bytes;
    for (uint64_t pass = first; pass < last; ++pass) {
        for (uint64_t offset = wavefront_number() * MICROBENCHMARK_CHUNK; offset < args->bytes; offset += all) {
            const uint8_t* const at = chunk_at(args, offset, turn);
            uint64_t value[MICROBENCHMARK_UNROLL];
#pragma GCC unroll 8
            for (unsigned k = 0; k < MICROBENCHMARK_UNROLL; ++k) value[k] = *(const volatile uint64_t*)(at + 512 * k);
#pragma GCC unroll 8
            for (unsigned k = 0; k < MICROBENCHMARK_UNROLL; ++k) sum += value[k];
        }
        turn = turn + args->stride < args->bytes ? turn + args->stride : 0;
    }
    return sum;
}

KERNEL(stream_read, struct microbenchmark_arguments) {
    (void)cycle_after(read_passes(args, 0, args->warm));
    grid_barrier(args);
    const uint64_t first = gpu_cycle();
    const uint64_t sum = read_passes(args, args->warm, args->warm + args->rounds);
    report(args, first, cycle_after(sum));
    if (lane_id() == 0) args->sum[wavefront_number()] = sum;
}

/* Chunks as above are written; the release at the end waits for the last of them. */
KERNEL(stream_write, struct microbenchmark_arguments) {
    const uint64_t all = grid_size(0) / 64 * MICROBENCHMARK_CHUNK;
    grid_barrier(args);
    const uint64_t first = gpu_cycle();
    for (uint64_t pass = 0; pass < args->rounds; ++pass)
        for (uint64_t offset = wavefront_number() * MICROBENCHMARK_CHUNK; offset < args->bytes; offset += all) {
            uint8_t* const at = chunk_at(args, offset, 0);
#pragma GCC unroll 8
            for (unsigned k = 0; k < MICROBENCHMARK_UNROLL; ++k) *(volatile uint64_t*)(at + 512 * k) = offset + k;
        }
    fence_release(GPU_SCOPE_AGENT);
    report(args, first, gpu_cycle());
}

/* Each round repeats an instruction. A chain's instructions wait for each other; the others form four chains. */
#define ARITHMETIC(name, chain, setup)                     \
    KERNEL(name, struct microbenchmark_arguments) {        \
        setup;                                             \
        const uint64_t first = gpu_cycle();                \
        for (uint64_t i = 0; i < args->rounds; ++i) chain; \
        report(args, first, gpu_cycle());                  \
    }
#define FOUR(instruction) instruction(0) instruction(1) instruction(2) instruction(3)
#define NO_SETUP (void)0

ARITHMETIC(alu_chain, __asm__ volatile(".rept " REPEAT "\n add t0, t0, t1\n .endr" ::: "t0"), NO_SETUP)
#define ADD(n) "add t" #n ", t" #n ", t4\n"
ARITHMETIC(alu_independent,
           __asm__ volatile(".rept " REPEAT " / 4\n" FOUR(ADD) ".endr" ::
                                : "t0", "t1", "t2", "t3"),
           NO_SETUP)
ARITHMETIC(mul_chain, __asm__ volatile(".rept " REPEAT "\n mul t0, t0, t1\n .endr" ::: "t0"), NO_SETUP)
ARITHMETIC(fma32_chain, __asm__ volatile(".rept " REPEAT "\n fmadd.s ft0, ft0, ft1, ft2\n .endr" ::: "ft0"), NO_SETUP)
#define FMA32(n) "fmadd.s ft" #n ", ft" #n ", ft4, ft5\n"
ARITHMETIC(fma32_independent,
           __asm__ volatile(".rept " REPEAT " / 4\n" FOUR(FMA32) ".endr" ::
                                : "ft0", "ft1", "ft2", "ft3"),
           NO_SETUP)
ARITHMETIC(fma64_chain, __asm__ volatile(".rept " REPEAT "\n fmadd.d ft0, ft0, ft1, ft2\n .endr" ::: "ft0"), NO_SETUP)
#define FMA64(n) "fmadd.d ft" #n ", ft" #n ", ft4, ft5\n"
ARITHMETIC(fma64_independent,
           __asm__ volatile(".rept " REPEAT " / 4\n" FOUR(FMA64) ".endr" ::
                                : "ft0", "ft1", "ft2", "ft3"),
           NO_SETUP)

/* LDS accesses of 32 bits, `stride` bytes between lanes. `bytes` of LDS come with the dispatch (a power of two). */
#define LDS_KERNEL(name, instructions, last)                                              \
    KERNEL(name, struct microbenchmark_arguments) {                                       \
        uint8_t* const at = lds_dynamic + (lane_id() * args->stride & (args->bytes - 1)); \
        barrier();                                                                        \
        uint64_t first = gpu_cycle();                                                     \
        for (uint64_t i = 0; i < args->rounds; ++i)                                       \
            __asm__ volatile(".rept " REPEAT " / 4\n" instructions ".endr" ::"r"(at)      \
                             : "t0", "t1", "t2", "t3", "memory");                         \
        last;                                                                             \
        report(args, first, gpu_cycle());                                                 \
    }
#define LDS_LOAD(n) "lw t" #n ", 0(%0)\n"
#define LDS_STORE(n) "sw t" #n ", 0(%0)\n"
#define LDS_ADD(n) "amoadd.w x0, t" #n ", (%0)\n"
#define WAIT_FOR_LOADS __asm__ volatile("add t0, t0, t1\n add t0, t0, t2\n add t0, t0, t3" ::: "t0")
LDS_KERNEL(lds_load, FOUR(LDS_LOAD), WAIT_FOR_LOADS)
LDS_KERNEL(lds_store, FOUR(LDS_STORE), barrier())
LDS_KERNEL(lds_atomic, FOUR(LDS_ADD), barrier())

/* A load of LDS after the other: latency. LDS holds zeros, so each load's address is the first one's. */
KERNEL(lds_chase, struct microbenchmark_arguments) {
    *(volatile uint64_t*)(lds_dynamic + 8 * lane_id()) = 0;
    barrier();
    const uint8_t* at = lds_dynamic;
    const uint64_t first = gpu_cycle();
    for (uint64_t i = 0; i < args->rounds; ++i)
        __asm__ volatile(".rept " GPU_TEXT(MICROBENCHMARK_UNROLL) "\n ld t0, 0(%0)\n add %0, %0, t0\n .endr"
                         : "+r"(at)
                         :
                         : "t0", "memory");
    report(args, first, cycle_after((uintptr_t)at));
}

/* Loads of 32 bits through the L1, `stride` bytes between lanes, eight in flight. */
KERNEL(coalescing, struct microbenchmark_arguments) {
    const uint8_t* const at = args->data + (lane_id() * args->stride & (args->bytes - 1));
    uint64_t sum = 0, first = 0;
    for (uint64_t i = 0; i < args->warm + args->rounds; ++i) {
        if (i == args->warm) first = cycle_after(sum);
        uint32_t value[MICROBENCHMARK_UNROLL];
#pragma GCC unroll 8
        for (unsigned k = 0; k < MICROBENCHMARK_UNROLL; ++k) value[k] = *(const volatile uint32_t*)at;
#pragma GCC unroll 8
        for (unsigned k = 0; k < MICROBENCHMARK_UNROLL; ++k) sum += value[k];
    }
    report(args, first, cycle_after(sum));
    args->sum[global_id(0)] = sum;
}

/* Each lane reads a word of a line of its own with loads that bypass the L1, `stride` bytes between neighbours, eight
 * in flight: what banks and channels make of strides. The lines lie in `bytes` (a power of two), and come round when
 * they are fewer than the loads. */
KERNEL(lines, struct microbenchmark_arguments) {
    const uint64_t all = grid_size(0) * args->stride, mask = args->bytes - 1;
    uint64_t at = global_id(0) * args->stride, sum = 0, first = gpu_cycle();
    for (uint64_t i = 0; i < args->warm + args->rounds; ++i) {
        if (i == args->warm) first = cycle_after(sum);
        uint64_t value[MICROBENCHMARK_UNROLL];
#pragma GCC unroll 8
        for (unsigned k = 0; k < MICROBENCHMARK_UNROLL; ++k)
            value[k] = load_scoped_u64(args->data + ((at + k * all) & mask));
#pragma GCC unroll 8
        for (unsigned k = 0; k < MICROBENCHMARK_UNROLL; ++k) sum += value[k];
        at += MICROBENCHMARK_UNROLL * all;
    }
    report(args, first, cycle_after(sum));
    args->sum[global_id(0)] = sum;
}

/* Every lane adds one, `stride` bytes between work-items (0: all to one word), without asking for the old value. */
KERNEL(atomics, struct microbenchmark_arguments) {
    volatile uint32_t* const at = (volatile uint32_t*)(args->data + (global_id(0) * args->stride & (args->bytes - 1)));
    const uint64_t first = gpu_cycle();
    for (uint64_t i = 0; i < args->rounds; ++i) atomic_increase_u32(at, 1);
    fence_release(GPU_SCOPE_AGENT);
    report(args, first, gpu_cycle());
}

/* The same with the old value, one after the other: latency. */
KERNEL(atomic_chain, struct microbenchmark_arguments) {
    volatile uint32_t* const at = (volatile uint32_t*)(args->data + (global_id(0) * args->stride & (args->bytes - 1)));
    uint64_t old = 0;
    for (uint64_t i = 0; i < args->warm; ++i) old += atomic_add_u32(at, 1);
    const uint64_t first = cycle_after(old);
    for (uint64_t i = 0; i < args->rounds; ++i) old = atomic_add_u32(at, (uint32_t)(old | 1));
    report(args, first, cycle_after(old));
}

KERNEL(barriers, struct microbenchmark_arguments) {
    barrier();
    const uint64_t first = gpu_cycle();
    for (uint64_t i = 0; i < args->rounds; ++i) barrier();
    report(args, first, gpu_cycle());
}

/* Nothing but its own times: dispatch. */
KERNEL(nothing, struct microbenchmark_arguments) {
    const uint64_t now = gpu_cycle();
    report(args, now, now);
}
