/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce, again and again: what a node adds in a round depends on the sum of the round before. For lanes and for
 * harts. */
#ifndef FABRICVP_GPU_KERNELS_PGAS_REDUCE_H
#define FABRICVP_GPU_KERNELS_PGAS_REDUCE_H

#include "arguments.h"
#include "gpu/pgas/reduce.h"

struct pgas_reduce_arguments {
    POINTER(struct pgas_group) groups; /* one a team */
    POINTER(uint64_t) cycles;          /* likewise: of all rounds */
    uint64_t values, staging;          /* offsets; of each team, behind those of the one before */
    uint32_t count;                    /* floats of a team */
    uint32_t rounds, tree, reserved;
};

/* What `rank` adds: a whole number, so that sums are exact in any order. */
static inline float reduce_own(uint32_t index, uint32_t rank, uint32_t round, float before) {
    return (float)((index * 7 + rank * 13 + round * 5) % 61 + (uint32_t)before % 64);
}

RDMA_INLINE void pgas_reduce_run(const struct pgas_reduce_arguments* a, struct pgas_group* g) {
    struct pgas_group* const home = (struct pgas_group*)(uintptr_t)a->groups + team_number();
    team_copy(g, home);
    const struct pgas_vector v = {a->values + 4ull * a->count * team_number(),
                                  a->staging + pgas_staging(a->count, g->ranks) * team_number(), a->count};
    float* const values = pgas_floats(g, v.values);
    const uint64_t begin = rdma_cycles();
    for (uint32_t round = 0; round < a->rounds; ++round) {
        for (uint32_t i = team_index(); i < v.count; i += team_size())
            values[i] = reduce_own(team_number() * v.count + i, g->rank, round, values[i]);
        if (!(pgas_reduce(g, &v, a->tree ? COLLECTIVE_TREE : COLLECTIVE_RING))) break;
    }
    if (team_leads()) ((uint64_t*)(uintptr_t)a->cycles)[team_number()] = rdma_cycles() - begin;
    team_copy(home, g);
}

#endif
