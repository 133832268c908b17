/* SPDX-License-Identifier: Apache-2.0 */
/* Passive communication: letters of a few bytes that come from whoever has something to say, in the order of each
 * sender. One caller of a node receives; the completions of all its queue pairs' receives come to one queue, its inbox.
 * A sender whose letters find no receive is told to wait by the adapter, and tries again. */
#ifndef FABRICVP_GPU_PGAS_PASSIVE_H
#define FABRICVP_GPU_PGAS_PASSIVE_H

#include "gpu/pgas/group.h"

enum {
    PGAS_LETTER = 64,
    PGAS_LOG_LETTERS = 3,
    PGAS_LETTERS = 1 << PGAS_LOG_LETTERS
}; /* bytes of a letter; receives of a link */

struct pgas_inbox {
    struct rdma_cq cq;
    uint64_t letters; /* offset in the segment, of PGAS_LETTERS for each rank */
    uint32_t consumer;
    uint32_t posted[PGAS_MOST_RANKS]; /* receives */
    uint32_t reserved;
};
struct pgas_letter {
    unsigned rank, bytes;
    const volatile uint64_t* words; /* until it is given back */
};

RDMA_INLINE uint64_t pgas_letter_at(const struct pgas_inbox* in, unsigned rank, uint32_t number) {
    return in->letters + ((uint64_t)rank * PGAS_LETTERS + number % PGAS_LETTERS) * PGAS_LETTER;
}

/* Lets another letter of `rank` come. */
RDMA_INLINE void pgas_give_back(const struct pgas_group* g, struct pgas_inbox* in, unsigned rank) {
    const struct pgas_link* l = &g->link[rank];
    rdma_write_receive(&l->pair, in->posted[rank], l->data.own + pgas_letter_at(in, rank, in->posted[rank]),
                       l->data.key, PGAS_LETTER);
    rdma_receives(&l->pair, ++in->posted[rank]);
}

/* Once, before letters are waited for. */
RDMA_INLINE void pgas_open_inbox(const struct pgas_group* g, struct pgas_inbox* in) {
    for (unsigned i = 0; i < g->ranks; ++i)
        for (unsigned k = 0; k < PGAS_LETTERS; ++k) pgas_give_back(g, in, i);
}

/* Waits for the next letter, whoever sends it. \returns false after the caller's patience, or if a receive has failed
 */
RDMA_INLINE bool pgas_receive(struct pgas_group* g, struct pgas_inbox* in, struct pgas_letter* letter) {
    const uint64_t begin = rdma_cycles();
    struct rdma_completion c;
    while (!rdma_poll(&in->cq, &in->consumer, &c))
        if (rdma_cycles() - begin > g->patience) return pgas_give_up(g, g->rank, PGAS_INBOX);
    unsigned rank = 0;
    while (rank + 1 < g->ranks && g->link[rank].pair.number != c.number) ++rank;
    if (c.syndrome) {
        g->link[rank].syndrome = c.syndrome;
        return pgas_give_up(g, rank, PGAS_INBOX);
    }
    const uint64_t at =
        g->link[rank].data.at + pgas_letter_at(in, rank, in->posted[rank]); /* the oldest of all that are posted */
    *letter = (struct pgas_letter){rank, c.bytes, (const volatile uint64_t*)(uintptr_t)at};
    rdma_acquire();
    return true;
}

/* Sends `bytes` (up to PGAS_LETTER, not 0) from offset `from`, which must stay as they are until the link has been
 * flushed. */
RDMA_INLINE bool pgas_send(struct pgas_link* l, uint64_t from, uint32_t bytes) {
    const struct rdma_work w = {
        .opcode = HCA_OP_SEND, .signalled = true, .local = l->data.own + from, .lkey = l->data.key, .bytes = bytes};
    return pgas_post(l, &w);
}

#endif
