/* SPDX-License-Identifier: Apache-2.0 */
/* Several nodes in one partitioned global address space. A caller, a work-group or a hart, has a link to each of them,
 * its own included: what goes there turns round in the adapter, whose atomics are atomic for all. Every wait has an
 * end: a link that fails, or the caller's patience; who was waited for in vain then stands in the group, and nothing is
 * done any more. */
#ifndef FABRICVP_GPU_PGAS_GROUP_H
#define FABRICVP_GPU_PGAS_GROUP_H

#include "gpu/pgas/pgas.h"

enum { PGAS_MOST_RANKS = 8, PGAS_SLOTS = 24 }; /* slots: of a board, for each caller */
enum { PGAS_SILENCE = 0x100 };                 /* beside enum hca_syndrome: nothing was heard */

struct pgas_group {
    uint32_t rank, ranks;
    uint32_t first_slot; /* of this caller */
    uint32_t epoch;      /* of collective operations and barriers so far */
    uint64_t patience;   /* of a wait, in cycles of the caller */
    uint32_t failed;     /* PGAS_SILENCE or enum hca_syndrome; 0: all is well */
    uint32_t failed_rank, failed_slot;
    uint32_t reserved;
    struct pgas_link link[PGAS_MOST_RANKS];
};

/* \returns false, for callers to return */
enum { PGAS_INBOX = 0xfffe, PGAS_ENDING = 0xffff }; /* in place of a slot: letters; the end of what was asked for */
RDMA_INLINE bool pgas_give_up(struct pgas_group* g, unsigned rank, unsigned slot) {
    if (!g->failed) {
        g->failed = slot >= PGAS_INBOX && g->link[rank].syndrome ? g->link[rank].syndrome : PGAS_SILENCE;
        g->failed_rank = rank;
        g->failed_slot = slot;
    }
    return false;
}

/* Waits until rank `rank` has said `value` or more in `slot` of this caller. What it wrote before can be loaded then.
 * Now and then it looks whether a request of its own has failed. */
enum { PGAS_EVERY = 16 }; /* looks */
RDMA_INLINE bool pgas_hear(struct pgas_group* g, unsigned rank, unsigned slot, uint64_t value) {
    const uint64_t begin = rdma_cycles();
    for (unsigned looks = 1; (int64_t)(pgas_look(&g->link[rank], g->first_slot + slot) - value) < 0; ++looks) {
        if (looks % PGAS_EVERY) continue;
        const unsigned other = looks / PGAS_EVERY % g->ranks;
        pgas_progress(&g->link[other]);
        if (g->link[other].syndrome) return pgas_give_up(g, other, PGAS_ENDING);
        if (rdma_cycles() - begin > g->patience) return pgas_give_up(g, rank, slot);
    }
    rdma_acquire();
    return true;
}

RDMA_INLINE bool pgas_say(struct pgas_group* g, unsigned rank, unsigned slot, uint64_t value) {
    return pgas_notify(&g->link[rank], g->first_slot + slot, value) || pgas_give_up(g, rank, slot);
}

/* Waits until all that was posted to `rank` has ended: what was read is here, and memory that was sent may change. */
RDMA_INLINE bool pgas_settle(struct pgas_group* g, unsigned rank) {
    struct pgas_link* l = &g->link[rank];
    const uint64_t begin = rdma_cycles();
    while (l->ended != l->posted && !l->syndrome && rdma_cycles() - begin <= g->patience) pgas_progress(l);
    if (l->syndrome || l->ended != l->posted) return pgas_give_up(g, rank, PGAS_ENDING);
    rdma_acquire();
    return true;
}
RDMA_INLINE bool pgas_settle_all(struct pgas_group* g) {
    for (unsigned i = 0; i < g->ranks; ++i)
        if (!pgas_settle(g, i)) return false;
    return true;
}

/* Until this caller of every other node has come here. */
enum { PGAS_MEETING = PGAS_SLOTS - 1 }; /* its slot */
RDMA_INLINE bool pgas_meet(struct pgas_group* g) {
    ++g->epoch;
    for (unsigned i = 1; i < g->ranks && !g->failed; ++i) pgas_say(g, (g->rank + i) % g->ranks, PGAS_MEETING, g->epoch);
    for (unsigned i = 1; i < g->ranks && !g->failed; ++i)
        pgas_hear(g, (g->rank + i) % g->ranks, PGAS_MEETING, g->epoch);
    return !g->failed;
}

#endif
