/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table spread over nodes, which counts how often each key came. A caller that has keys claims buckets by
 * compare-and-swap and adds to their counters, on any node, without a service there. Then it reads what stands there.
 * For lanes and for harts. */
#ifndef FABRICVP_GPU_KERNELS_PGAS_HASH_H
#define FABRICVP_GPU_KERNELS_PGAS_HASH_H

#include "arguments.h"
#include "gpu/pgas/coalesced.h"

struct hash_bucket {
    uint64_t key; /* 0: free */
    uint64_t count;
};
struct pgas_hash_arguments {
    POINTER(struct pgas_context) contexts; /* one a caller */
    POINTER(struct grid_barrier) grid;
    POINTER(uint64_t) cycles; /* of each caller: of the first part, of the second one */
    uint64_t table;           /* offset of this node's buckets */
    uint64_t responses;       /* offset of two words for each member of each caller */
    uint64_t found;           /* offset: counters that were read, `lookups` of each caller */
    uint32_t log_buckets;     /* of a node */
    uint32_t keys, lookups;   /* of a caller */
    uint32_t universe;        /* as many keys are there */
};

static inline uint64_t hash_mix(uint64_t x) {
    x = (x ^ x >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 29;
}
static inline uint64_t hash_key(uint32_t id) { return (id + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15); }
/* The `i`th key of a caller; the `i`th that it looks up is another one. */
static inline uint32_t hash_id(const struct pgas_hash_arguments* a, uint32_t rank, uint32_t group, uint32_t i,
                               uint32_t is_lookup) {
    return (uint32_t)(hash_mix((uint64_t)(rank * 64 + group * 2 + is_lookup + 1) << 32 | i) % a->universe);
}
static inline uint32_t hash_owner(uint64_t key, uint32_t ranks) { return (uint32_t)((key >> 40) % ranks); }
static inline uint64_t hash_slot(const struct pgas_hash_arguments* a, uint64_t key, uint32_t tries) {
    return ((key >> 16) + tries) & ((UINT64_C(1) << a->log_buckets) - 1);
}

/* A member's work: which of the caller's keys, how many buckets it has tried, and whether it has found the right one.
 */
struct hash_member {
    uint32_t i, tries;
    bool claimed;
};

RDMA_INLINE struct rdma_work_request hash_request(const struct pgas_hash_arguments* a, const struct pgas_context* g,
                                                  unsigned owner, unsigned opcode, uint64_t key, uint32_t tries,
                                                  uint64_t own) {
    const uint64_t bucket = a->table + sizeof(struct hash_bucket) * hash_slot(a, key, tries);
    const unsigned bytes = opcode == HCA_OP_READ ? sizeof(struct hash_bucket) : 8;
    return pgas_request(&g->link[owner], opcode, own, opcode == HCA_OP_FETCH_ADD ? bucket + 8 : bucket, bytes);
}

/* The member's next request with those of the others: `is_lookup` at a bucket, or claims and counts. \returns how many
 * were performed */
RDMA_INLINE unsigned hash_issue(const struct pgas_hash_arguments* a, struct pgas_context* g,
                                struct pgas_coalesced_requests* t, uint64_t own, const struct hash_member* m,
                                bool is_lookup, uint64_t* key, bool* responded) {
    const bool busy = m->i < (is_lookup ? a->lookups : a->keys) && m->tries >> a->log_buckets == 0;
    *key = hash_key(hash_id(a, g->comm.rank, wg_id(), m->i, is_lookup));
    const unsigned owner = hash_owner(*key, g->comm.size);
    struct rdma_work_request work = hash_request(a, g, owner,
                                                 is_lookup    ? HCA_OP_READ
                                                 : m->claimed ? HCA_OP_FETCH_ADD
                                                              : HCA_OP_COMPARE_SWAP,
                                                 *key, m->tries, own);
    if (!is_lookup) work.swap_add = m->claimed ? 1 : *key; /* compared with 0 */
    const unsigned performed = pgas_post_coalesced(g, t, busy, owner, &work);
    *responded = busy && performed;
    return performed;
}

/* Counts all keys of the caller. */
RDMA_INLINE void hash_insert(const struct pgas_hash_arguments* a, struct pgas_context* g,
                             struct pgas_coalesced_requests* t, uint64_t own) {
    const volatile uint64_t* const response =
        (const volatile uint64_t*)(uintptr_t)(g->link[g->comm.rank].data.at + own);
    struct hash_member m = {wg_local_id(), 0, false};
    uint64_t key;
    bool responded;
    while (hash_issue(a, g, t, own, &m, false, &key, &responded)) {
        if (!responded) continue;
        const uint64_t current_key = m.claimed ? 0 : rdma_load64(response);
        if (m.claimed)
            m = (struct hash_member){m.i + wg_size(), 0, false};
        else if (current_key && current_key != key)
            ++m.tries;
        else
            m.claimed = true;
    }
}

RDMA_INLINE void hash_lookup(const struct pgas_hash_arguments* a, struct pgas_context* g,
                             struct pgas_coalesced_requests* t, uint64_t own) {
    const volatile uint64_t* const response =
        (const volatile uint64_t*)(uintptr_t)(g->link[g->comm.rank].data.at + own);
    uint64_t* const found =
        (uint64_t*)(uintptr_t)(g->link[g->comm.rank].data.at + a->found) + (uint64_t)wg_id() * a->lookups;
    struct hash_member m = {wg_local_id(), 0, false};
    uint64_t key;
    bool responded;
    while (hash_issue(a, g, t, own, &m, true, &key, &responded)) {
        if (!responded) continue;
        const uint64_t current_key = rdma_load64(response), count = rdma_load64(response + 1);
        if (current_key && current_key != key) {
            ++m.tries;
        } else {
            found[m.i] = current_key ? count : 0;
            m = (struct hash_member){m.i + wg_size(), 0, false};
        }
    }
}

RDMA_INLINE void pgas_hash_run(const struct pgas_hash_arguments* a, struct pgas_context* g,
                               struct pgas_coalesced_requests* t) {
    struct pgas_context* const stored = (struct pgas_context*)(uintptr_t)a->contexts + wg_id();
    struct grid_barrier* const grid = (struct grid_barrier*)(uintptr_t)a->grid;
    uint64_t* const cycles = (uint64_t*)(uintptr_t)a->cycles + 2 * wg_id();
    const uint64_t own = a->responses + 16ull * (wg_id() * wg_size() + wg_local_id());
    wg_copy_context(g, stored);
    uint64_t begin = rdma_cycles();
    hash_insert(a, g, t, own);
    if (wg_is_leader()) cycles[0] = rdma_cycles() - begin;
    grid_barrier_wait(grid, 1);
    if (wg_id() == 0 && wg_is_leader()) grid->stop = !pgas_barrier_all(g); /* all have counted */
    if (grid_barrier_wait(grid, 2)) {
        begin = rdma_cycles();
        hash_lookup(a, g, t, own);
        if (wg_is_leader()) cycles[1] = rdma_cycles() - begin;
    }
    wg_copy_context(stored, g);
}

#endif
