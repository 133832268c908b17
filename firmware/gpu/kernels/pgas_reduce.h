/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce, again and again: what a node adds in a round depends on the sum of the round before. For lanes and for
 * harts. */
#ifndef FABRICVP_GPU_KERNELS_PGAS_REDUCE_H
#define FABRICVP_GPU_KERNELS_PGAS_REDUCE_H

#include "arguments.h"
#include "gpu/pgas/reduce.h"

struct pgas_reduce_arguments {
    POINTER(struct pgas_context) contexts; /* one a caller */
    POINTER(uint64_t) cycles;              /* likewise: of all rounds */
    uint64_t values, staging;              /* offsets; of each caller, behind those of the one before */
    uint32_t count;                        /* floats of a caller */
    uint32_t rounds, tree, reserved;
};

/* What `rank` adds: a whole number, so that sums are exact in any order. */
static inline float reduce_contribution(uint32_t index, uint32_t rank, uint32_t round, float before) {
    return (float)((index * 7 + rank * 13 + round * 5) % 61 + (uint32_t)before % 64);
}

RDMA_INLINE void pgas_reduce_run(const struct pgas_reduce_arguments* a, struct pgas_context* g) {
    struct pgas_context* const stored = (struct pgas_context*)(uintptr_t)a->contexts + wg_id();
    wg_copy_context(g, stored);
    const struct pgas_all_reduce_buffers v = {a->values + 4ull * a->count * wg_id(),
                                              a->staging + pgas_staging_bytes(a->count, g->comm.size) * wg_id(),
                                              a->count};
    float* const values = pgas_float_address(g, v.values);
    const uint64_t begin = rdma_cycles();
    for (uint32_t round = 0; round < a->rounds; ++round) {
        for (uint32_t i = wg_local_id(); i < v.count; i += wg_size())
            values[i] = reduce_contribution(wg_id() * v.count + i, g->comm.rank, round, values[i]);
        if (!(pgas_all_reduce(g, &v, a->tree ? COLLECTIVE_TREE : COLLECTIVE_RING))) break;
    }
    if (wg_is_leader()) ((uint64_t*)(uintptr_t)a->cycles)[wg_id()] = rdma_cycles() - begin;
    wg_copy_context(stored, g);
}

#endif
