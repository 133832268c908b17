/* SPDX-License-Identifier: Apache-2.0 */
/* A lock for several work-groups that post to one queue pair, in the order in which they come. What it guards, the
 * state of the queue above all, lies in the GPU's memory. For kernels; one lane of a work-group calls. */
#ifndef FABRICVP_GPU_VERBS_TICKET_LOCK_H
#define FABRICVP_GPU_VERBS_TICKET_LOCK_H

#include "gpu/verbs/arch.h"

struct rdma_ticket_lock { /* starts as zeros */
    uint32_t next, serving;
};

#ifdef FABRICVP_KERNEL
RDMA_INLINE void rdma_lock(struct rdma_ticket_lock* t) {
    const uint32_t ticket = atomic_add_u32(&t->next, 1);
    while (load_scoped_u32(&t->serving) != ticket) gpu_pause();
    fence_acquire(GPU_SCOPE_AGENT);
}
RDMA_INLINE void rdma_unlock(struct rdma_ticket_lock* t) {
    fence_release(GPU_SCOPE_AGENT);
    atomic_increase_u32(&t->serving, 1);
}
#else /* one hart, one caller */
RDMA_INLINE void rdma_lock(struct rdma_ticket_lock* t) { ++t->next; }
RDMA_INLINE void rdma_unlock(struct rdma_ticket_lock* t) { ++t->serving; }
#endif

#endif
