/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce: each node has a vector of floats in its segment, and in the end the sum of all. Called by a whole team,
 * on memory and slots of its own; who sends what to whom is network/schedule.h's. */
#ifndef FABRICVP_GPU_PGAS_REDUCE_H
#define FABRICVP_GPU_PGAS_REDUCE_H

#include "gpu/pgas/team.h"
#include "network/schedule.h"

struct pgas_vector {
    uint64_t values;  /* offset in the segment, the same on all nodes, of `count` floats */
    uint64_t staging; /* of places for what is to be added: one vector for a ring, log2 of ranks for a tree */
    uint32_t count;
};
/* Bytes of staging that are enough for both. */
RDMA_INLINE uint64_t pgas_staging(uint32_t count, unsigned ranks) { return 4 * (uint64_t)count * ranks; }

RDMA_INLINE float* pgas_floats(const struct pgas_group* g, uint64_t offset) {
    return (float*)(uintptr_t)(g->link[g->rank].data.at + offset);
}

RDMA_INLINE void pgas_add(const struct pgas_group* g, uint64_t to, uint64_t from, uint32_t count) {
    float *sum = pgas_floats(g, to), *more = pgas_floats(g, from);
    for (uint32_t i = team_index(); i < count; i += team_size()) sum[i] += more[i];
}

/* Data to one rank, perhaps none, whose slot then says so, and waiting for as much of another one; either may be left
 * out (PGAS_NOBODY). \returns whether the group is well */
enum { PGAS_NOBODY = PGAS_MOST_RANKS };
struct pgas_step {
    unsigned to, from, slot;
    uint64_t mine, theirs; /* offsets here and there */
    uint32_t bytes;
};
RDMA_INLINE bool pgas_perform(struct pgas_group* g, const struct pgas_step* s) {
    team_meet(); /* what goes out has been stored */
    if (team_leads() && !g->failed) {
        struct pgas_link* l = &g->link[s->to == PGAS_NOBODY ? 0 : s->to];
        const bool sent = s->to == PGAS_NOBODY || (s->bytes ? pgas_write_notify(l, s->mine, s->theirs, s->bytes,
                                                                                g->first_slot + s->slot, g->epoch)
                                                            : pgas_notify(l, g->first_slot + s->slot, g->epoch));
        if (!sent) pgas_give_up(g, s->to, s->slot);
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

/* A step of network/schedule.h; slots are steps. A node that is in the next all-reduce has what this one added in this
 * one, so nothing is overwritten that is still needed. */
RDMA_INLINE bool pgas_reduce_step(struct pgas_group* g, const struct pgas_vector* v, enum collective_way way,
                                  unsigned step) {
    const struct collective_step m = collective_step(way, g->rank, g->ranks, step);
    const unsigned parts = collective_parts(way, g->ranks);
    const uint64_t place = v->staging + 4 * (uint64_t)v->count * m.place;
    const uint64_t mine = 4 * collective_begin(v->count, parts, m.send_part),
                   taken = 4 * collective_begin(v->count, parts, m.take_part);
    const uint64_t bytes = 4 * collective_begin(v->count, parts, m.send_part + 1u) - mine,
                   more = 4 * collective_begin(v->count, parts, m.take_part + 1u) - taken;
    const struct pgas_step s = {m.sends ? m.to : PGAS_NOBODY,
                                m.takes ? m.from : PGAS_NOBODY,
                                step,
                                v->values + mine,
                                (m.adds ? place : v->values) + mine,
                                (uint32_t)bytes};
    if (!m.sends && !m.takes) return true;
    if (!pgas_perform(g, &s)) return false;
    if (m.takes && m.adds) pgas_add(g, v->values + taken, place + taken, (uint32_t)(more / 4));
    return true;
}

/* \returns whether the group is well */
RDMA_INLINE bool pgas_reduce(struct pgas_group* g, const struct pgas_vector* v, enum collective_way way) {
    bool well = pgas_begin(g);
    for (unsigned step = 0; step < collective_steps(way, g->ranks) && well; ++step)
        well = pgas_reduce_step(g, v, way, step);
    return pgas_end(g);
}

#endif
