/* SPDX-License-Identifier: Apache-2.0 */
/* Passive communication: active messages of a few bytes from any rank, in the order of each sender.
 * One caller of a node receives; the completions of all its queue pairs' receives come to one queue, its inbox.
 * A sender whose messages find no receive is told to wait by the adapter, and tries again. */
#ifndef FABRICVP_GPU_PGAS_ACTIVE_MESSAGE_H
#define FABRICVP_GPU_PGAS_ACTIVE_MESSAGE_H

#include "gpu/pgas/context.h"

enum {
    PGAS_MESSAGE_BYTES = 64,
    PGAS_LOG_MESSAGES_PER_RANK = 3,
    PGAS_MESSAGES_PER_RANK = 1 << PGAS_LOG_MESSAGES_PER_RANK
}; /* bytes of a message; receives of a link */

struct pgas_inbox {
    struct rdma_cq cq;
    uint64_t messages_offset; /* offset in the segment, of PGAS_MESSAGES_PER_RANK for each rank */
    uint32_t consumer;
    uint32_t posted[PGAS_MAX_RANKS]; /* receives */
    uint32_t reserved;
};
struct pgas_active_message {
    unsigned rank, bytes;
    const volatile uint64_t* words; /* until it is given back */
};

RDMA_INLINE uint64_t pgas_message_offset(const struct pgas_inbox* in, unsigned rank, uint32_t number) {
    return in->messages_offset +
           ((uint64_t)rank * PGAS_MESSAGES_PER_RANK + number % PGAS_MESSAGES_PER_RANK) * PGAS_MESSAGE_BYTES;
}

/* Posts a receive for another message of `rank`. */
RDMA_INLINE void pgas_post_receive(const struct pgas_context* g, struct pgas_inbox* in, unsigned rank) {
    const struct pgas_link* l = &g->link[rank];
    rdma_write_receive_wqe(&l->qp, in->posted[rank], l->data.local + pgas_message_offset(in, rank, in->posted[rank]),
                           l->data.lkey, PGAS_MESSAGE_BYTES);
    rdma_update_receive_record(&l->qp, ++in->posted[rank]);
}

/* Once, before the first wait for a message. */
RDMA_INLINE void pgas_post_receives(const struct pgas_context* g, struct pgas_inbox* in) {
    for (unsigned i = 0; i < g->comm.size; ++i)
        for (unsigned k = 0; k < PGAS_MESSAGES_PER_RANK; ++k) pgas_post_receive(g, in, i);
}

/* Waits for the next message of any rank. \returns false after the caller's timeout, or if a receive has failed
 */
RDMA_INLINE bool pgas_receive(struct pgas_context* g, struct pgas_inbox* in, struct pgas_active_message* message) {
    const uint64_t begin = rdma_cycles();
    struct rdma_completion c;
    while (!rdma_poll(&in->cq, &in->consumer, &c))
        if (rdma_cycles() - begin > g->timeout) return pgas_fail(g, g->comm.rank, PGAS_SLOT_INBOX);
    unsigned rank = 0;
    while (rank + 1 < g->comm.size && g->link[rank].qp.number != c.number) ++rank;
    if (c.syndrome) {
        g->link[rank].syndrome = c.syndrome;
        return pgas_fail(g, rank, PGAS_SLOT_INBOX);
    }
    const uint64_t at =
        g->link[rank].data.at + pgas_message_offset(in, rank, in->posted[rank]); /* the oldest of all that are posted */
    *message = (struct pgas_active_message){rank, c.bytes, (const volatile uint64_t*)(uintptr_t)at};
    rdma_acquire();
    return true;
}

/* Sends `bytes` (up to PGAS_MESSAGE_BYTES, not 0) from offset `from`, which must stay as they are until the link has
 * been flushed. */
RDMA_INLINE bool pgas_send(struct pgas_link* l, uint64_t from, uint32_t bytes) {
    const struct rdma_work_request w = {
        .opcode = HCA_OP_SEND, .signalled = true, .local = l->data.local + from, .lkey = l->data.lkey, .bytes = bytes};
    return pgas_post(l, &w);
}

#endif
