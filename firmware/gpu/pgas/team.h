/* SPDX-License-Identifier: Apache-2.0 */
/* Those who work on one thing at a node: all work-items of a work-group, or one hart alone. What they do together has
 * one source, in which the first of them talks to the network. */
#ifndef FABRICVP_GPU_PGAS_TEAM_H
#define FABRICVP_GPU_PGAS_TEAM_H

#include "gpu/pgas/group.h"

#ifdef FABRICVP_KERNEL
#define team_index() ((unsigned)local_id(0))
#define team_size() ((unsigned)group_size(0))
#define team_number() ((unsigned)group_id(0))
#define team_count() ((unsigned)group_count(0))
/* Each has come here, and sees what the others have stored. */
#define team_meet() barrier()
#define team_add(at, operand) atomic_add_u32(at, operand)
#else
#define team_index() 0u
#define team_size() 1u
#define team_number() 0u
#define team_count() 1u
#define team_meet() ((void)0)
RDMA_INLINE uint32_t team_add(volatile uint32_t* at, uint32_t operand) {
    const uint32_t old = *at;
    *at = old + operand;
    return old;
}
#endif

RDMA_INLINE bool team_leads(void) { return team_index() == 0; }

/* The group of this team, from where it is kept to where it is at hand, and back. */
RDMA_INLINE void team_copy(struct pgas_group* to, const struct pgas_group* from) {
    team_meet();
    for (unsigned i = team_index(); i < sizeof *to / 8; i += team_size())
        ((volatile uint64_t*)to)[i] = ((const volatile uint64_t*)from)[i];
    team_meet();
}

/* All teams of a kernel, which are resident at once. Starts as zeros. */
struct team_crew {
    uint32_t arrived, released;
    volatile uint32_t stop; /* set by the first of them, in front of a meeting */
    uint32_t reserved;
};
/* Each team has come here for the `number`th time, and sees what the others have stored. \returns false if they have to
 * stop */
RDMA_INLINE bool crew_meet(struct team_crew* crew, uint32_t number) {
#ifdef FABRICVP_KERNEL
    fence_release(GPU_SCOPE_AGENT);
    team_meet();
    if (team_leads() && team_count() > 1) {
        fence_release(GPU_SCOPE_AGENT);
        if (atomic_add_u32(&crew->arrived, 1) + 1 == number * team_count()) atomic_increase_u32(&crew->released, 1);
        while (load_scoped_u32(&crew->released) < number) gpu_pause();
        fence_acquire(GPU_SCOPE_AGENT);
    }
    team_meet();
    return !load_scoped_u32(&crew->stop);
#else
    (void)number;
    return !crew->stop;
#endif
}

#endif
