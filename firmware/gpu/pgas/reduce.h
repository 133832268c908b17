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

/* Data to one rank, perhaps none, whose slot then says so, and waiting for as much of another one; either may be left
 * out (PGAS_NO_RANK). \returns whether the context is well */
enum { PGAS_NO_RANK = PGAS_MAX_RANKS };
struct pgas_step {
    unsigned to, from, slot;
    uint64_t local, remote; /* offsets here and there */
    uint32_t bytes;
};
RDMA_INLINE bool pgas_perform_step(struct pgas_context* g, const struct pgas_step* s) {
    wg_barrier(); /* what goes out has been stored */
    if (wg_is_leader() && !g->failed) {
        struct pgas_link* l = &g->link[s->to == PGAS_NO_RANK ? 0 : s->to];
        const bool sent = s->to == PGAS_NO_RANK || (s->bytes ? pgas_write_notify(l, s->local, s->remote, s->bytes,
                                                                                 g->first_slot + s->slot, g->epoch)
                                                             : pgas_notify(l, g->first_slot + s->slot, g->epoch));
        if (!sent) pgas_fail(g, s->to, s->slot);
        if (s->from != PGAS_NO_RANK && !g->failed) pgas_wait_notification(g, s->from, s->slot, g->epoch);
    }
    wg_barrier();
    return !g->failed;
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

/* A step of network/schedule.h; slots are steps. A node that is in the next all-reduce has what this one added in this
 * one, so nothing is overwritten that is still needed. */
RDMA_INLINE bool pgas_all_reduce_step(struct pgas_context* g, const struct pgas_all_reduce_buffers* v,
                                      enum collective_algorithm algorithm, unsigned step) {
    const struct collective_step m = collective_step(algorithm, g->comm.rank, g->comm.size, step);
    const unsigned chunks = collective_chunks(algorithm, g->comm.size);
    const uint64_t staging = v->staging + 4 * (uint64_t)v->count * m.staging_slot;
    const uint64_t local = 4 * collective_chunk_begin(v->count, chunks, m.send_chunk),
                   received = 4 * collective_chunk_begin(v->count, chunks, m.receive_chunk);
    const uint64_t bytes = 4 * collective_chunk_begin(v->count, chunks, m.send_chunk + 1u) - local,
                   more = 4 * collective_chunk_begin(v->count, chunks, m.receive_chunk + 1u) - received;
    const struct pgas_step s = {m.sends ? m.to : PGAS_NO_RANK,
                                m.receives ? m.from : PGAS_NO_RANK,
                                step,
                                v->values + local,
                                (m.adds ? staging : v->values) + local,
                                (uint32_t)bytes};
    if (!m.sends && !m.receives) return true;
    if (!pgas_perform_step(g, &s)) return false;
    if (m.receives && m.adds) pgas_add(g, v->values + received, staging + received, (uint32_t)(more / 4));
    return true;
}

/* \returns whether the context is well */
RDMA_INLINE bool pgas_all_reduce(struct pgas_context* g, const struct pgas_all_reduce_buffers* v,
                                 enum collective_algorithm algorithm) {
    bool ok = pgas_collective_begin(g);
    for (unsigned step = 0; step < collective_steps(algorithm, g->comm.size) && ok; ++step)
        ok = pgas_all_reduce_step(g, v, algorithm, step);
    return pgas_collective_end(g);
}

#endif
