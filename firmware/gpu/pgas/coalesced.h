/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of a whole work-group: each of its work-items may have one, to any node. They write their entries side by
 * side, the first one announces those of a node by one doorbell, and the last entry of each node tells that all of them
 * have ended. */
#ifndef FABRICVP_GPU_PGAS_COALESCED_H
#define FABRICVP_GPU_PGAS_COALESCED_H

#include "gpu/pgas/workgroup.h"

/* Shared by the work-group, in its local data share. */
struct pgas_coalesced_requests {
    volatile uint32_t count[PGAS_MAX_RANKS];                        /* requests to each node */
    volatile uint32_t opcode[PGAS_MAX_RANKS], size[PGAS_MAX_RANKS]; /* of the first of them */
};

/* Called by the whole work-group, which is no larger than a send queue, with nothing under way. \param busy whether
 * there is a request \returns how many there were; 0 as well if the context has failed */
RDMA_INLINE unsigned pgas_post_coalesced(struct pgas_context* g, struct pgas_coalesced_requests* t, bool busy,
                                         unsigned rank, struct rdma_work_request* work) {
    unsigned all = 0, position = 0;
    for (unsigned i = wg_local_id(); i < PGAS_MAX_RANKS; i += wg_size()) t->count[i] = 0;
    wg_barrier();
    if (busy) position = wg_atomic_add(&t->count[rank], 1);
    wg_barrier();
    if (busy) {
        const struct pgas_link* l = &g->link[rank];
        work->signalled = position + 1 == t->count[rank];
        const unsigned size = pgas_write_wqe(l, l->posted + position, work);
        if (!position) t->opcode[rank] = work->opcode, t->size[rank] = size;
    }
    rdma_order();
    wg_barrier();
    for (unsigned i = 0; i < g->comm.size; ++i) {
        all += t->count[i];
        if (wg_is_leader() && t->count[i] && !g->link[i].syndrome)
            pgas_ring_doorbell(&g->link[i], t->count[i], t->opcode[i], t->size[i]);
    }
    if (wg_is_leader() && !g->failed) pgas_flush_all(g);
    wg_barrier();
    return g->failed ? 0 : all;
}

#endif
