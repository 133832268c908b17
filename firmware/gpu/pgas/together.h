/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of a whole team: each of its members may have one, to any node. They write their entries side by side, the
 * first one announces those of a node by one doorbell, and the last entry of each node tells that all of them have
 * ended. */
#ifndef FABRICVP_GPU_PGAS_TOGETHER_H
#define FABRICVP_GPU_PGAS_TOGETHER_H

#include "gpu/pgas/team.h"

/* What the team shares: for a work-group, in its local data share. */
struct pgas_together {
    volatile uint32_t wanted[PGAS_MOST_RANKS];                        /* requests to each node */
    volatile uint32_t opcode[PGAS_MOST_RANKS], size[PGAS_MOST_RANKS]; /* of the first of them */
};

/* Called by all of the team, which is no larger than a send queue, with nothing under way. \param busy whether there is
 * a request \returns how many there were; 0 as well if the group has failed */
RDMA_INLINE unsigned pgas_together(struct pgas_group* g, struct pgas_together* t, bool busy, unsigned rank,
                                   struct rdma_work* work) {
    unsigned all = 0, place = 0;
    for (unsigned i = team_index(); i < PGAS_MOST_RANKS; i += team_size()) t->wanted[i] = 0;
    team_meet();
    if (busy) place = team_add(&t->wanted[rank], 1);
    team_meet();
    if (busy) {
        const struct pgas_link* l = &g->link[rank];
        work->signalled = place + 1 == t->wanted[rank];
        const unsigned size = pgas_put(l, l->posted + place, work);
        if (!place) t->opcode[rank] = work->opcode, t->size[rank] = size;
    }
    rdma_order();
    team_meet();
    for (unsigned i = 0; i < g->ranks; ++i) {
        all += t->wanted[i];
        if (team_leads() && t->wanted[i] && !g->link[i].syndrome)
            pgas_ring(&g->link[i], t->wanted[i], t->opcode[i], t->size[i]);
    }
    if (team_leads() && !g->failed) pgas_settle_all(g);
    team_meet();
    return g->failed ? 0 : all;
}

#endif
