/* SPDX-License-Identifier: Apache-2.0 */
/* Several nodes in one partitioned global address space. A caller, a work-group or a hart, has a link to each of them,
 * its own included: what goes there turns round in the adapter, whose atomics are atomic for all. Every wait has an
 * end: a link that fails, or the caller's timeout; the context then has the rank that was missing, and does nothing
 * any more. */
#ifndef FABRICVP_GPU_PGAS_CONTEXT_H
#define FABRICVP_GPU_PGAS_CONTEXT_H

#include "gpu/pgas/pgas.h"
#include "lib/communicator.h"

enum { PGAS_MAX_RANKS = 8, PGAS_SLOTS = 24 }; /* slots: of notifications, for each caller */
enum { PGAS_TIMEOUT = 0x100 };                /* beside enum hca_syndrome: nothing was heard */

struct pgas_context {
    struct communicator comm;
    uint32_t first_slot; /* of this caller */
    uint32_t epoch;      /* of collective operations and barriers so far */
    uint64_t timeout;    /* of a wait, in cycles of the caller */
    uint32_t failed;     /* PGAS_TIMEOUT or enum hca_syndrome; 0: all is well */
    uint32_t failed_rank, failed_slot;
    uint32_t reserved;
    struct pgas_sum { /* what an all-reduce has received, for all work-items: offsets in the segment, floats */
        uint64_t to, from;
        uint32_t count, reserved;
    } sum;
    struct pgas_link link[PGAS_MAX_RANKS];
};

/* \returns false, for callers to return */
enum {
    PGAS_SLOT_INBOX = 0xfffe,
    PGAS_SLOT_COMPLETION = 0xffff
}; /* in place of a slot: active messages; the end of a request */
RDMA_INLINE bool pgas_fail(struct pgas_context* g, unsigned rank, unsigned slot) {
    if (!g->failed) {
        g->failed = slot >= PGAS_SLOT_INBOX && g->link[rank].syndrome ? g->link[rank].syndrome : PGAS_TIMEOUT;
        g->failed_rank = rank;
        g->failed_slot = slot;
    }
    return false;
}

/* Waits until rank `rank` has said `value` or more in `slot` of this caller. What it wrote before can be loaded then.
 * Now and then it looks whether a request of its own has failed. */
enum { PGAS_POLLS_PER_CHECK = 16 }; /* looks */
RDMA_APART bool pgas_wait_notification(struct pgas_context* g, unsigned rank, unsigned slot, uint64_t value) {
    const uint64_t begin = rdma_cycles();
    for (unsigned polls = 1; (int64_t)(pgas_read_notification(&g->link[rank], g->first_slot + slot) - value) < 0;
         ++polls) {
        if (polls % PGAS_POLLS_PER_CHECK) continue;
        const unsigned other = polls / PGAS_POLLS_PER_CHECK % g->comm.size;
        pgas_progress(&g->link[other]);
        if (g->link[other].syndrome) return pgas_fail(g, other, PGAS_SLOT_COMPLETION);
        if (rdma_cycles() - begin > g->timeout) return pgas_fail(g, rank, slot);
    }
    rdma_acquire();
    return true;
}

RDMA_INLINE bool pgas_notify_rank(struct pgas_context* g, unsigned rank, unsigned slot, uint64_t value) {
    return pgas_notify(&g->link[rank], g->first_slot + slot, value) || pgas_fail(g, rank, slot);
}

/* Waits until all that was posted to `rank` has ended: what was read is here, and memory that was sent may change. */
RDMA_INLINE bool pgas_flush_rank(struct pgas_context* g, unsigned rank) {
    struct pgas_link* l = &g->link[rank];
    const uint64_t begin = rdma_cycles();
    while (l->retired != l->posted && !l->syndrome && rdma_cycles() - begin <= g->timeout) pgas_progress(l);
    if (l->syndrome || l->retired != l->posted) return pgas_fail(g, rank, PGAS_SLOT_COMPLETION);
    rdma_acquire();
    return true;
}
RDMA_APART bool pgas_flush_all(struct pgas_context* g) {
    for (unsigned i = 0; i < g->comm.size; ++i)
        if (!pgas_flush_rank(g, i)) return false;
    return true;
}

/* Until this caller of every other node has come here. */
enum { PGAS_SLOT_BARRIER = PGAS_SLOTS - 1 }; /* its slot */
RDMA_APART bool pgas_barrier_all(struct pgas_context* g) {
    ++g->epoch;
    for (unsigned i = 1; i < g->comm.size && !g->failed; ++i)
        pgas_notify_rank(g, (g->comm.rank + i) % g->comm.size, PGAS_SLOT_BARRIER, g->epoch);
    for (unsigned i = 1; i < g->comm.size && !g->failed; ++i)
        pgas_wait_notification(g, (g->comm.rank + i) % g->comm.size, PGAS_SLOT_BARRIER, g->epoch);
    return !g->failed;
}

#endif
