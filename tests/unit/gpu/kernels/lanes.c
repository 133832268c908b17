/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that need forward progress, barriers and all kinds of memory, and kernels that go wrong. */
#include "gpu.h"

struct arguments {
    volatile uint64_t* out;
    volatile uint32_t* word;
    uint64_t value;
};

/* Who am I? */
KERNEL(identity, struct arguments) {
    const size_t at = (global_id(2) * grid_size(1) + global_id(1)) * grid_size(0) + global_id(0);
    volatile uint64_t* o = args->out + at * 8;
    o[0] = global_id(0) | global_id(1) << 16 | global_id(2) << 32;
    o[1] = local_id(0) | local_id(1) << 16 | local_id(2) << 32;
    o[2] = group_id(0) | group_id(1) << 16 | group_id(2) << 32;
    o[3] = group_size(0) | group_size(1) << 16 | group_size(2) << 32;
    o[4] = lane_id() | wavefront_id() << 16;
    o[5] = gpu_id();
    o[6] = gpu_cycle();
    o[7] = gpu_time_ns();
}

/* Every lane takes a lock, adds to a word without atomics, and gives the lock back. */
KERNEL(spin_lock, struct arguments) {
    volatile uint32_t *lock = args->word, *sum = args->word + 32;
    while (atomic_swap_u32(lock, 1)) {
    }
    fence_acquire(GPU_SCOPE_AGENT);
    *sum = load_scoped_u32(sum) + 1;
    fence_release(GPU_SCOPE_AGENT);
    atomic_swap_u32(lock, 0);
}

/* The same with compare and swap, in local memory. */
LDS volatile uint32_t local_lock[2];
KERNEL(local_spin_lock, struct arguments) {
    if (local_id(0) == 0) local_lock[0] = local_lock[1] = 0;
    barrier();
    while (compare_swap_u32(&local_lock[0], 0, 1)) gpu_pause();
    local_lock[1] += 1;
    atomic_swap_u32(&local_lock[0], 0);
    barrier();
    if (local_id(0) == 0) args->out[group_id(0)] = local_lock[1];
}

/* Even lanes wait for what odd lanes, which come later in the program, give them. */
KERNEL(producer_consumer, struct arguments) {
    const size_t me = global_id(0);
    volatile uint32_t* slot = args->word + (me | 1);
    if (me & 1) {
        *slot = (uint32_t)me * 3 + 1;
    } else {
        uint32_t v;
        do v = load_scoped_u32(slot);
        while (v == 0);
        args->out[me] = v;
    }
}

static __attribute__((noinline)) uint64_t fibonacci(uint64_t n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
KERNEL(recursion, struct arguments) { args->out[global_id(0)] = fibonacci(global_id(0) % 11); }

static __attribute__((noinline)) uint64_t twice(uint64_t n) { return 2 * n; }
static __attribute__((noinline)) uint64_t square(uint64_t n) { return n * n; }
static __attribute__((noinline)) uint64_t next(uint64_t n) { return n + 1; }
static uint64_t (*const functions[])(uint64_t) = {twice, square, next};
KERNEL(indirect, struct arguments) { args->out[global_id(0)] = functions[global_id(0) % 3](global_id(0)); }

/* A tree of additions between barriers. */
LDS uint64_t partial[256];
KERNEL(tree, struct arguments) {
    const size_t me = local_id(0);
    partial[me] = global_id(0);
    barrier();
    for (size_t half = 128; half; half /= 2) {
        if (me < half) partial[me] += partial[me + half];
        barrier();
    }
    if (me == 0) args->out[group_id(0)] = partial[0];
}

LDS uint32_t bins[16];
LDS uint64_t extremes[2];
KERNEL(local_atomics, struct arguments) {
    const uint32_t me = (uint32_t)local_id(0);
    if (me < 16) bins[me] = 0;
    if (me == 0) extremes[0] = ~0ull, extremes[1] = 0;
    barrier();
    atomic_increase_u32(&bins[me * 7 & 15], 1);
    atomic_min_u64(&extremes[0], 1000 - me);
    atomic_max_u64(&extremes[1], (uint64_t)me * me);
    const uint32_t before = atomic_add_u32(&bins[15], 0);
    barrier();
    if (me < 16) args->out[me] = bins[me];
    if (me == 0) args->out[16] = extremes[0], args->out[17] = extremes[1], args->out[18] = before <= 16;
}

/* Pointers whose lanes mean different memories. */
LDS uint32_t mixed[64];
KERNEL(generic, struct arguments) {
    static const uint32_t constants[4] = {11, 22, 33, 44};
    volatile uint32_t own[4];
    const size_t me = local_id(0);
    mixed[me & 63] = (uint32_t)me;
    own[me & 3] = 1000 + (uint32_t)me;
    args->word[me] = 2000 + (uint32_t)me;
    const volatile uint32_t* from = me % 4 == 0   ? &mixed[me & 63]
                                    : me % 4 == 1 ? &own[me & 3]
                                    : me % 4 == 2 ? &args->word[me]
                                                  : &constants[me & 3];
    args->out[me] = *from;
}

/* Lanes that end, before others wait for them or afterwards. */
KERNEL(missing_barrier, struct arguments) {
    if (local_id(0) != 37) barrier();
    args->out[global_id(0)] = 1;
}
KERNEL(late_wavefront, struct arguments) {
    args->out[global_id(0)] = 1;
    if (wavefront_id() == 1) {
        for (volatile int i = 0; i < 100; ++i) {
        }
        gpu_end();
    }
    barrier();
}
LDS uint32_t met;
KERNEL(early_return, struct arguments) {
    if (local_id(0) % 3 == 0) {
        args->out[global_id(0)] = 1;
        return;
    }
    atomic_increase_u32(&met, 1);
    for (size_t i = 0; i < local_id(0) % 8; ++i) barrier();
    for (size_t i = local_id(0) % 8; i < 8; ++i) barrier();
    args->out[global_id(0)] = met == 128 - 43;
}

/* What goes wrong. */
KERNEL(illegal, struct arguments) {
    if (global_id(0) == args->value) __asm__ volatile(".word 0xffffffff");
    args->out[global_id(0)] = 1;
}
KERNEL(runaway, struct arguments) {
    if (global_id(0) == args->value)
        for (;;) __asm__ volatile("");
    args->out[global_id(0)] = 1;
}
KERNEL(wild_jump, struct arguments) {
    if (global_id(0) == args->value) ((void (*)(void))0x1234)();
}
KERNEL(crooked_jump, struct arguments) {
    if (global_id(0) == args->value) ((void (*)(void))0x10000042)();
}
KERNEL(wild_store, struct arguments) {
    uint64_t at =
        global_id(0) == args->value ? args->value * 0 + (uint64_t)args->word : (uint64_t)&args->out[global_id(0)];
    *(volatile uint64_t*)at = 1;
}
KERNEL(rounding, struct arguments) { __asm__ volatile("fsrmi 1"); }
KERNEL(deep, struct arguments) { args->out[global_id(0)] = fibonacci(args->value); }
KERNEL(run_off, struct arguments) { __asm__ volatile(".insn i 0x0b, 7, x0, x0, 0"); }
