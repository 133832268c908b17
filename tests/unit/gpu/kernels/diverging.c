/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes that part ways and must meet again, and lanes of one wavefront that wait for each other. */
#include "gpu.h"

struct arguments {
    volatile uint64_t* out;
    volatile uint32_t* word;
    uint64_t value;
};

/* Every compiler puts the body of the `if` behind the loop. */
KERNEL(continues, struct arguments) {
    uint64_t state = global_id(0) * 2654435761u + 1, sum = 0;
    for (uint64_t i = 0; i < args->value; ++i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if (state & 3) continue;
        sum += state >> 5;
        __asm__ volatile("" : "+r"(sum));
    }
    args->out[global_id(0)] = sum;
}

/* Trip counts differ by lane, up to `value`; then there is more to do. */
KERNEL(unequal, struct arguments) {
    uint64_t sum = 0;
    const uint64_t trips = args->value * (lane_id() + 1) / 64;
    for (uint64_t i = 0; i < trips; ++i) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    for (uint64_t i = 0; i < args->value; ++i) {
        sum = sum * 3 + i;
        __asm__ volatile("" : "+r"(sum));
    }
    args->out[global_id(0)] = sum;
}

/* Lane 0 and lane 63 pass a number to and fro through a word that both read and write plainly. */
LDS volatile uint64_t ball;
KERNEL(hand_over, struct arguments) {
    if (lane_id() == 0) ball = 0;
    barrier();
    const unsigned me = lane_id() == 0 ? 0 : 1;
    if (lane_id() == 0 || lane_id() == 63)
        for (uint64_t round = 0; round < args->value; ++round) {
            while (ball != 2 * round + me) {
            }
            ball = 2 * round + me + 1;
        }
    barrier();
    args->out[global_id(0)] = ball;
}

/* The same, with a limit to the looks: registers change with each. */
KERNEL(limited_looks, struct arguments) {
    if (lane_id() == 0) ball = 0;
    barrier();
    const unsigned me = lane_id() == 0 ? 0 : 1;
    if (lane_id() == 0 || lane_id() == 63)
        for (uint64_t round = 0; round < args->value; ++round) {
            for (uint64_t looks = 0; ball != 2 * round + me && looks < 100000000; ++looks) {
            }
            ball = 2 * round + me + 1;
        }
    barrier();
    args->out[global_id(0)] = ball;
}

/* Locks that all lanes fight for, by compare and swap and by atomic swap, with and without gpu_pause(). */
GPU_INLINE void count(const struct arguments* args) {
    fence_acquire(GPU_SCOPE_AGENT);
    args->word[32] = load_scoped_u32(&args->word[32]) + 1;
    fence_release(GPU_SCOPE_AGENT);
}
KERNEL(reserved_lock, struct arguments) {
    for (uint64_t round = 0; round < args->value; ++round) {
        while (compare_swap_u32(args->word, 0, 1)) {
        }
        count(args);
        atomic_swap_u32(args->word, 0);
    }
}
KERNEL(swap_lock, struct arguments) {
    for (uint64_t round = 0; round < args->value; ++round) {
        while (atomic_swap_u32(args->word, 1)) {
        }
        count(args);
        atomic_swap_u32(args->word, 0);
    }
}
KERNEL(paused_lock, struct arguments) {
    for (uint64_t round = 0; round < args->value; ++round) {
        while (atomic_swap_u32(args->word, 1)) gpu_pause();
        count(args);
        atomic_swap_u32(args->word, 0);
    }
}
/* Looks before it swaps, and does so with work in between. */
KERNEL(backoff_lock, struct arguments) {
    for (uint64_t round = 0; round < args->value; ++round) {
        for (unsigned wait = 1;; wait = wait < 16 ? 2 * wait : wait) {
            if (load_scoped_u32(args->word) == 0 && atomic_swap_u32(args->word, 1) == 0) break;
            for (unsigned i = 0; i < wait; ++i) __asm__ volatile("");
        }
        count(args);
        atomic_swap_u32(args->word, 0);
    }
}
