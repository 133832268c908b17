/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"
#include "gpu.h"

/* First a spin lock for which all lanes of all wavefronts compete; then lane 0 of each wavefront sends numbers through
 * a mailbox, which lane 63 receives. Both only end because lanes that wait let the others run. */
KERNEL(locks, struct locks_arguments) {
    for (uint64_t round = 0; round < args->rounds; ++round) {
        while (atomic_swap_u32(args->lock, 1)) gpu_pause();
        fence_acquire(GPU_SCOPE_SYSTEM);
        const uint64_t old = load_scoped_u64(args->counter);
        *args->counter = old + 1;
        fence_release(GPU_SCOPE_SYSTEM);
        atomic_swap_u32(args->lock, 0);
    }
    const size_t wave = group_id(0);
    volatile uint64_t* mailbox = args->mailbox + wave * 8;
    if (lane_id() == 0) {
        for (uint64_t round = 1; round <= args->rounds; ++round) {
            while (load_scoped_u64(mailbox)) gpu_pause();
            *mailbox = round * (wave + 1);
            fence_release(GPU_SCOPE_SYSTEM);
        }
    } else if (lane_id() == 63) {
        uint64_t sum = 0;
        for (uint64_t round = 0; round < args->rounds; ++round) {
            uint64_t got;
            while (!(got = load_scoped_u64(mailbox))) gpu_pause();
            sum += got;
            *mailbox = 0;
            fence_release(GPU_SCOPE_SYSTEM);
        }
        args->received[wave] = sum;
    }
}
