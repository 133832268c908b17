/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce: each node has a vector of floats in its segment, and in the end the sum of all. Called by a whole team, on memory and
 * slots of its own. */
#ifndef FABRICVP_GPU_PGAS_REDUCE_H
#define FABRICVP_GPU_PGAS_REDUCE_H

#include "gpu/pgas/team.h"

struct pgas_vector {
    uint64_t values;           /* offset in the segment, the same on all nodes, of `count` floats */
    uint64_t staging;          /* of as many floats for each step: ranks - 1 parts of a ring, log2 of ranks vectors of a tree */
    uint32_t count;            /* ring: a multiple of the number of ranks */
};
/* Bytes of staging that are enough for both. */
RDMA_INLINE uint64_t pgas_staging(uint32_t count, unsigned ranks) { return 4 * (uint64_t)count * ranks; }

RDMA_INLINE float* pgas_floats(const struct pgas_group* g, uint64_t offset) { return (float*)(uintptr_t)(g->link[g->rank].data.at + offset); }

RDMA_INLINE void pgas_add(const struct pgas_group* g, uint64_t to, uint64_t from, uint32_t count) {
    float *sum = pgas_floats(g, to), *more = pgas_floats(g, from);
    for (uint32_t i = team_index(); i < count; i += team_size()) sum[i] += more[i];
}

/* Data to one rank, whose slot then says so, and waiting for as much of another one; either may be left out (PGAS_NOBODY).
 * \returns whether the group is well */
enum { PGAS_NOBODY = PGAS_MOST_RANKS };
struct pgas_step {
    unsigned to, from, slot;
    uint64_t mine, theirs;     /* offsets here and there */
    uint32_t bytes;
};
RDMA_INLINE bool pgas_perform(struct pgas_group* g, const struct pgas_step* s) {
    team_meet(); /* what goes out has been stored */
    if (team_leads() && !g->failed) {
        struct pgas_link* l = &g->link[s->to == PGAS_NOBODY ? 0 : s->to];
        if (s->to != PGAS_NOBODY && !pgas_write_notify(l, s->mine, s->theirs, s->bytes, g->first_slot + s->slot, g->epoch)) pgas_give_up(g, s->to, s->slot);
        if (s->from != PGAS_NOBODY && !g->failed) pgas_hear(g, s->from, s->slot, g->epoch);
    }
    team_meet();
    return !g->failed;
}

RDMA_INLINE bool pgas_begin(struct pgas_group* g) {
    if (team_leads()) ++g->epoch;
    team_meet();
    return !g->failed;
}
RDMA_INLINE bool pgas_end(struct pgas_group* g) {
    team_meet();
    if (team_leads() && !g->failed) pgas_settle_all(g);
    team_meet();
    return !g->failed;
}

/* Parts go round: in the first half of the steps each gets its sum at one node, in the second one all get it. A node that is in
 * the next round has what this one added in this round, so nothing is overwritten that is still needed. */
RDMA_INLINE bool pgas_reduce_ring(struct pgas_group* g, const struct pgas_vector* v) {
    const unsigned ranks = g->ranks, rank = g->rank, right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    const uint32_t part = v->count / ranks, bytes = 4 * part;
    bool well = pgas_begin(g);
    for (unsigned step = 0; step + 1 < ranks && well; ++step) {
        const unsigned mine = (rank + ranks - step) % ranks, next = (mine + ranks - 1) % ranks;
        const uint64_t staging = v->staging + (uint64_t)step * bytes;
        well = pgas_perform(g, &(struct pgas_step){right, left, step, v->values + (uint64_t)mine * bytes, staging, bytes});
        if (well) pgas_add(g, v->values + (uint64_t)next * bytes, staging, part);
    }
    for (unsigned step = 0; step + 1 < ranks && well; ++step) {
        const uint64_t at = v->values + (uint64_t)((rank + 1 + ranks - step) % ranks) * bytes;
        well = pgas_perform(g, &(struct pgas_step){right, left, ranks - 1 + step, at, at, bytes});
    }
    return pgas_end(g);
}

/* Sums go up a binomial tree to node 0, and the whole one down again. */
RDMA_INLINE bool pgas_reduce_tree(struct pgas_group* g, const struct pgas_vector* v) {
    const unsigned ranks = g->ranks, rank = g->rank;
    const uint32_t bytes = 4 * v->count;
    unsigned bit = 1, level = 0;
    bool well = pgas_begin(g);
    for (; bit < ranks && !(rank & bit) && well; bit <<= 1, ++level) {
        if (rank + bit >= ranks) continue;
        const uint64_t staging = v->staging + (uint64_t)level * bytes;
        well = pgas_perform(g, &(struct pgas_step){PGAS_NOBODY, rank + bit, level, 0, 0, bytes});
        if (well) pgas_add(g, v->values, staging, v->count);
    }
    if (rank && well) {
        const unsigned parent = rank - bit;
        well = pgas_perform(g, &(struct pgas_step){parent, PGAS_NOBODY, level, v->values, v->staging + (uint64_t)level * bytes, bytes}) &&
               pgas_perform(g, &(struct pgas_step){PGAS_NOBODY, parent, PGAS_MOST_RANKS, 0, 0, bytes});
    }
    for (bit >>= 1; bit && well; bit >>= 1)
        if (rank + bit < ranks) well = pgas_perform(g, &(struct pgas_step){rank + bit, PGAS_NOBODY, PGAS_MOST_RANKS, v->values, v->values, bytes});
    return pgas_end(g);
}

#endif
