/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce: each node has a vector of floats in its segment, and in the end the sum of all. Called by a whole
 * work-group or kernel, on memory and slots of its own; network/schedule.h defines the messages. */
#ifndef FABRICVP_GPU_PGAS_REDUCE_H
#define FABRICVP_GPU_PGAS_REDUCE_H

#include "gpu/pgas/workgroup.h"
#include "network/schedule.h"

struct pgas_all_reduce_buffers {
    uint64_t values;  /* offset in the segment, the same on all nodes, of `count` floats */
    uint64_t staging; /* of places for what is to be added: one vector for a ring, log2 of ranks for a tree */
    uint32_t count;
};
/* Bytes of staging that are enough for both. */
RDMA_INLINE uint64_t pgas_staging_bytes(uint32_t count, unsigned ranks) { return 4 * (uint64_t)count * ranks; }

RDMA_INLINE float* pgas_float_address(const struct pgas_context* g, uint64_t offset) {
    return (float*)(uintptr_t)(g->link[g->comm.rank].data.at + offset);
}

RDMA_INLINE void pgas_add(const struct pgas_context* g, uint64_t to, uint64_t from, uint32_t count) {
    float *sum = pgas_float_address(g, to), *more = pgas_float_address(g, from);
    for (uint32_t i = wg_local_id(); i < count; i += wg_size()) sum[i] += more[i];
}

RDMA_INLINE bool pgas_collective_begin(struct pgas_context* g) {
    if (wg_is_leader()) ++g->epoch;
    wg_barrier();
    return !g->failed;
}
RDMA_INLINE bool pgas_collective_end(struct pgas_context* g) {
    wg_barrier();
    if (wg_is_leader() && !g->failed) pgas_flush_all(g);
    wg_barrier();
    return !g->failed;
}

/* A step of network/schedule.h, by one work-item: sends, waits, and leaves in `g->sum` what all of them have to add.
 * Slots are steps. A node that is in the next all-reduce has what this one added in this one, so nothing is overwritten
 * that is still needed. */
RDMA_APART void pgas_all_reduce_step(struct pgas_context* g, const struct pgas_all_reduce_buffers* v,
                                     enum collective_algorithm algorithm, unsigned step) {
    const struct collective_step m = collective_step(algorithm, g->comm.rank, g->comm.size, step);
    const unsigned chunks = collective_chunks(algorithm, g->comm.size), slot = g->first_slot + step;
    const uint64_t staging = v->staging + 4 * (uint64_t)v->count * m.staging_slot;
    g->sum.count = 0;
    if (m.sends) {
        const uint64_t begin = collective_chunk_begin(v->count, chunks, m.send_chunk), at = v->values + 4 * begin,
                       bytes = 4 * (collective_chunk_begin(v->count, chunks, m.send_chunk + 1u) - begin);
        struct pgas_link* l = &g->link[m.to];
        if (!(bytes ? pgas_write_notify(l, at, m.adds ? staging + 4 * begin : at, (uint32_t)bytes, slot, g->epoch)
                    : pgas_notify(l, slot, g->epoch))) /* whose slot then says that there is nothing */
            pgas_fail(g, m.to, step);
    }
    if (!m.receives || g->failed || !pgas_wait_notification(g, m.from, step, g->epoch) || !m.adds) return;
    const uint64_t begin = collective_chunk_begin(v->count, chunks, m.receive_chunk);
    g->sum.to = v->values + 4 * begin;
    g->sum.from = staging + 4 * begin;
    g->sum.count = (uint32_t)(collective_chunk_begin(v->count, chunks, m.receive_chunk + 1u) - begin);
}

/* \returns whether the context is well */
RDMA_INLINE bool pgas_all_reduce(struct pgas_context* g, const struct pgas_all_reduce_buffers* v,
                                 enum collective_algorithm algorithm) {
    bool ok = pgas_collective_begin(g);
    for (unsigned step = 0; step < collective_steps(algorithm, g->comm.size) && ok; ++step) {
        wg_barrier(); /* what goes out has been stored */
        if (wg_is_leader()) pgas_all_reduce_step(g, v, algorithm, step);
        wg_barrier();
        ok = !g->failed;
        if (ok) pgas_add(g, g->sum.to, g->sum.from, g->sum.count);
    }
    return pgas_collective_end(g);
}

#endif
