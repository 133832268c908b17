/* SPDX-License-Identifier: Apache-2.0 */
/* Micro-benchmarks of memory: pointer chases, streams, what a fence is for. */
#include "gpu.h"

struct chase_arguments {
    uint64_t *start, *out;
    uint64_t iterations;
};

/* One lane follows pointers. A turn takes as long as a load, and the issue of its instruction. */
KERNEL(chase, struct chase_arguments) {
    const uint64_t* p = args->start;
    const uint64_t iterations = args->iterations;
    const uint64_t begin = gpu_cycle();
    for (uint64_t i = 0; i < iterations; ++i) p = (const uint64_t*)*(const volatile uint64_t*)p;
    __asm__ volatile("mv zero, %0" ::"r"(p)); /* waits for the last one */
    args->out[0] = gpu_cycle() - begin;
    args->out[1] = (uint64_t)p;
}

struct stream_arguments {
    const uint64_t* from;
    uint64_t* out;
    uint64_t words, iterations;
};

/* All lanes read the whole array, eight words under way at a time, and note the sum of what they saw. */
KERNEL(stream, struct stream_arguments) {
    const size_t lanes = grid_size(0), me = global_id(0);
    uint64_t sum = 0;
    for (uint64_t iteration = 0; iteration < args->iterations; ++iteration)
        for (size_t at = me; at < args->words; at += 8 * lanes) {
            const volatile uint64_t* p = args->from + at;
            const uint64_t a = p[0], b = p[lanes], c = p[2 * lanes], d = p[3 * lanes];
            const uint64_t e = p[4 * lanes], f = p[5 * lanes], g = p[6 * lanes], h = p[7 * lanes];
            sum += a + b + c + d + e + f + g + h;
        }
    args->out[me] = sum;
}

struct handoff_arguments {
    volatile uint64_t *data, *ready, *written, *out;
};

/* Work-group 0 reads, work-group 1 writes, on different compute units. */
KERNEL(handoff, struct handoff_arguments) {
    if (group_id(0) == 0) {
        args->out[0] = *args->data; /* now its L1 cache holds the line */
        store_release(args->ready, (uint64_t)1, GPU_SCOPE_AGENT);
        while (load_scoped_u64(args->written) == 0) gpu_pause();
        args->out[1] = *args->data;
        fence_acquire(GPU_SCOPE_AGENT);
        args->out[2] = *args->data;
        args->out[3] = compute_unit_id();
    } else {
        while (load_scoped_u64(args->ready) == 0) gpu_pause();
        *args->data = 2;
        store_release(args->written, (uint64_t)1, GPU_SCOPE_AGENT);
        args->out[4] = compute_unit_id();
    }
}

struct rotate_arguments {
    uint32_t* words;
    uint64_t iterations;
};

/* Loads, stores and local memory in turns, so that wavefronts keep coming to a full queue. */
LDS uint32_t shared[256];
KERNEL(rotate, struct rotate_arguments) {
    const size_t me = local_id(0), base = group_id(0) * 256;
    for (uint64_t iteration = 0; iteration < args->iterations; ++iteration) {
        const uint32_t a = args->words[base + me], b = args->words[base + (me + 64) % 256],
                       c = args->words[base + (me + 128) % 256];
        shared[me] = a + 3 * b + 5 * c;
        barrier();
        args->words[base + me] = shared[(me + 1) % 256];
        barrier();
    }
}

struct add_arguments {
    uint32_t* words;
    uint64_t counter; /* bytes behind them */
};

/* Triples each word and counts lanes. */
KERNEL(add, struct add_arguments) {
    args->words[global_id(0)] *= 3;
    atomic_add_u32(args->words + args->counter / 4, 1);
}

struct sum_arguments {
    float* single;
    double* wide;
};

/* Sums of numbers, by the L2 and by the local data share. */
LDS double local_sum;
KERNEL(sum_numbers, struct sum_arguments) {
    if (local_id(0) == 0) local_sum = 0;
    barrier();
    atomic_add_f32(args->single, (float)local_id(0) / 2);
    atomic_add_f64(&local_sum, 0.25);
    barrier();
    if (local_id(0) == 0) atomic_add_f64(args->wide, local_sum);
}
