/* SPDX-License-Identifier: Apache-2.0 */
/* A caller of several work-items or one: all work-items of a work-group, or one hart alone. What they do together has
 * one source, in which the first of them talks to the network. */
#ifndef FABRICVP_GPU_PGAS_WORKGROUP_H
#define FABRICVP_GPU_PGAS_WORKGROUP_H

#include "gpu/pgas/context.h"

#ifdef FABRICVP_KERNEL
#define wg_local_id() ((unsigned)local_id(0))
#define wg_size() ((unsigned)group_size(0))
#define wg_id() ((unsigned)group_id(0))
#define wg_count() ((unsigned)group_count(0))
/* Each has come here, and sees what the others have stored. */
#define wg_barrier() barrier()
#define wg_atomic_add(at, operand) atomic_add_u32(at, operand)
#else
#define wg_local_id() 0u
#define wg_size() 1u
#define wg_id() 0u
#define wg_count() 1u
#define wg_barrier() ((void)0)
RDMA_INLINE uint32_t wg_atomic_add(volatile uint32_t* at, uint32_t operand) {
    const uint32_t old = *at;
    *at = old + operand;
    return old;
}
#endif

RDMA_INLINE bool wg_is_leader(void) { return wg_local_id() == 0; }

/* Copies the context of this work-group from global memory to the local data share, and back. */
RDMA_INLINE void wg_copy_context(struct pgas_context* to, const struct pgas_context* from) {
    wg_barrier();
    for (unsigned i = wg_local_id(); i < sizeof *to / 8; i += wg_size())
        ((volatile uint64_t*)to)[i] = ((const volatile uint64_t*)from)[i];
    wg_barrier();
}

/* All work-groups of a kernel, which are resident at once. Starts as zeros. */
struct grid_barrier {
    uint32_t arrived, released;
    volatile uint32_t stop; /* set by the first of them, in front of a meeting */
    uint32_t reserved;
};
/* All work-groups have reached barrier `number`, and see each other's earlier stores. \returns false if they have to
 * stop */
RDMA_INLINE bool grid_barrier_wait(struct grid_barrier* grid, uint32_t number) {
#ifdef FABRICVP_KERNEL
    fence_release(GPU_SCOPE_AGENT);
    wg_barrier();
    if (wg_is_leader() && wg_count() > 1) {
        fence_release(GPU_SCOPE_AGENT);
        if (atomic_add_u32(&grid->arrived, 1) + 1 == number * wg_count()) atomic_increase_u32(&grid->released, 1);
        while (load_scoped_u32(&grid->released) < number) gpu_pause();
        fence_acquire(GPU_SCOPE_AGENT);
    }
    wg_barrier();
    return !load_scoped_u32(&grid->stop);
#else
    (void)number;
    return !grid->stop;
#endif
}

#endif
