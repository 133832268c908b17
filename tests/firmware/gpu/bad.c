/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that go wrong, each in its way, and one that does not. */
#include "gpu.h"
#include "lanes.h"

#include "bad.h"

/* Work-item i writes 3 i + 1 there. */
KERNEL(good, struct bad_arguments) { ((uint32_t*)args->at)[global_id(0)] = (uint32_t)(3 * global_id(0) + 1); }

KERNEL(illegal, struct bad_arguments) {
    if (global_id(0) == args->lane) __asm__ volatile(".word 0");
}

/* Into scratch memory, where no code can be. */
KERNEL(run_off, struct bad_arguments) {
    if (global_id(0) == args->lane) __asm__ volatile("jr %0" ::"r"(args->at));
}

/* Half of the lanes never come: they wait for the others. */
KERNEL(deadlock, struct bad_arguments) {
    if (lane_id() >= args->lane)
        barrier();
    else
        lane_sync(~0ul);
}

KERNEL(load, struct bad_arguments) {
    if (global_id(0) == args->lane) (void)*(volatile uint32_t*)args->at;
}

KERNEL(store, struct bad_arguments) {
    if (global_id(0) == args->lane) *(volatile uint32_t*)args->at = 1;
}

KERNEL(endless, struct bad_arguments) {
    for (;;) gpu_pause();
}

/* Until another agent writes there. */
KERNEL(await, struct bad_arguments) {
    while (!load_scoped_u32((const void*)args->at)) gpu_pause();
}

/* Writes the time and adds to the count in front of it. */
KERNEL(stamp, struct bad_arguments) {
    if (global_id(0)) return;
    volatile uint64_t* words = (volatile uint64_t*)args->at;
    const uint64_t place = atomic_add_u64(words, 1);
    words[1 + place] = args->lane;
}

/* What a load sees that may come from the L1 cache. */
KERNEL(copy_word, struct bad_arguments) {
    if (global_id(0)) return;
    volatile uint32_t* words = (volatile uint32_t*)args->at;
    words[16] = words[0];
}
