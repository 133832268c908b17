/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose lanes exchange values and wait for each other, some for ever. */
#include "gpu.h"
#include "lanes.h"

struct arguments {
    volatile uint64_t* out;
    volatile uint32_t* word;
    uint64_t value;
};

/* Lanes 0, 3, 6, … read from the lane before and from the next but one, others do something else meanwhile. */
KERNEL(inactive, struct arguments) {
    const unsigned me = lane_number();
    volatile uint64_t* o = args->out + me * 8;
    if (me % 3 == 0) {
        o[0] = lane_active();
        o[1] = lane_ballot(me & 4);
        o[2] = lane_shuffle_u64(me + (1ul << 40), me - 1);
        o[3] = lane_shuffle_u64(me + (1ul << 40), me + 3);
        o[4] = (uint64_t)(int64_t)lane_shuffle_i32((int)me - 100, me + 3);
        o[5] = lane_shuffle_u64(me, me + 66); /* a lane that does not exist */
        /* The result of a word is sign-extended, whatever stands above it. */
        uint64_t word;
        __asm__ volatile(LANES_INSTRUCTION(GPU_LANES_SHUFFLE_W, "%0, %1, %2")
                         : "=r"(word)
                         : "r"(0x180000000ul + me), "r"(3));
        o[6] = word;
        __asm__ volatile(LANES_INSTRUCTION(GPU_LANES_SHUFFLE_D, "x0, %0, %1")::"r"(me), "r"(me));
    } else {
        o[0] = lane_active();
        o[1] = lane_ballot(1);
    }
    o[7] = lane_active();
}

/* Who is where, whatever the size of wavefronts. */
KERNEL(places, struct arguments) {
    const unsigned me = (unsigned)(local_id(0) + local_id(1) * 50);
    volatile uint64_t kept[2]; /* in scratch memory */
    volatile uint64_t* o = args->out + (group_id(0) * 150 + me) * 4;
    kept[me & 1] = lane_shuffle_u32(me, lane_number() + 1);
    o[0] = lane_number();
    o[1] = wavefront_id();
    o[2] = lane_active();
    o[3] = kept[me & 1];
}

/* Two arms come to barriers of their own. */
KERNEL(wait_anywhere, struct arguments) {
    const unsigned me = lane_number();
    if (me & 1) {
        args->word[me] = me;
        lane_barrier(~0ul);
        args->out[me] = args->word[me ^ 1];
    } else {
        for (unsigned i = 0; i < me; ++i) gpu_pause();
        args->word[me] = me;
        lane_barrier(~0ul);
        args->out[me] = args->word[me ^ 1];
    }
}

/* Halves of a wavefront wait for themselves alone, and come as they like. */
KERNEL(halves, struct arguments) {
    const unsigned me = lane_number();
    const unsigned long mask = me < 32 ? 0xffffffff : 0xffffffffull << 32;
    uint64_t sum = 0;
    for (unsigned turn = 0; turn < 5; ++turn) {
        if ((me + turn) % 5 == 0)
            for (unsigned i = 0; i < (me & 7); ++i) gpu_pause();
        sum += lane_reduce_add_u32(mask, me * (turn + 1));
    }
    args->out[me] = sum;
}

/* Lanes that have ended are not waited for. */
KERNEL(ended, struct arguments) {
    const unsigned me = lane_number();
    if (me % 5 == 2) gpu_end();
    if (me % 5 == 3) {
        for (unsigned i = 0; i < 20; ++i) gpu_pause();
        gpu_end();
    }
    lane_barrier(~0ul);
    args->out[me] = lane_reduce_max_u32(~0ul, me);
}

/* A lane waits at another place, where no other comes. */
KERNEL(other_place, struct arguments) {
    const unsigned me = lane_number();
    if (me == args->value) {
        lane_sync(~0ul);
        args->out[me] = 1;
    } else {
        lane_sync(~0ul);
        args->out[me] = 2;
    }
}
KERNEL(other_mask, struct arguments) {
    const unsigned me = lane_number();
    lane_sync(me == args->value ? 0xff : ~0ul);
    args->out[me] = 1;
}
KERNEL(at_barrier, struct arguments) {
    const unsigned me = lane_number();
    if (me == args->value)
        barrier();
    else
        lane_sync(~0ul);
    args->out[me] = 1;
}
KERNEL(fine, struct arguments) {
    lane_sync(~0ul);
    args->out[local_id(0)] = lane_ballot(1);
}
