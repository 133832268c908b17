/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs without a driver: writes work queue entries, rings doorbells and polls completions of queues that a driver has
 * made (firmware/host/verbs) and described (queues.h). Nothing here waits or locks: a
 * queue belongs to one poster at a time, or to several who agree on who writes which entry and who rings. */
#ifndef FABRICVP_GPU_VERBS_VERBS_H
#define FABRICVP_GPU_VERBS_VERBS_H

#include "abi/hca_post.h"
#include "gpu/verbs/poster.h"
#include "gpu/verbs/queues.h"

/* ---- posting ---- */

enum { RDMA_MOST_RUNG = 255 }; /* entries a doorbell */

struct rdma_work {
    unsigned opcode; /* enum hca_opcode */
    bool signalled, solicited, fence;
    uint32_t immediate;
    uint64_t remote; /* of writes, reads, atomics */
    uint32_t rkey;
    uint64_t local; /* bytes 0: no data segment */
    uint32_t lkey, bytes;
    uint64_t swap_add, compare; /* of atomics */
};

RDMA_INLINE uint32_t rdma_offset(const struct rdma_pair* q, uint32_t counter) {
    return (counter & ((1u << q->log_sends) - 1)) << q->log_stride;
}
RDMA_INLINE volatile uint64_t* rdma_entry(const struct rdma_pair* q, uint32_t counter) {
    return (volatile uint64_t*)(uintptr_t)(q->sends + rdma_offset(q, counter));
}
RDMA_INLINE bool rdma_is_atomic(unsigned opcode) { return opcode == HCA_OP_COMPARE_SWAP || opcode == HCA_OP_FETCH_ADD; }
RDMA_INLINE bool rdma_is_send(unsigned opcode) { return opcode == HCA_OP_SEND || opcode == HCA_OP_SEND_IMMEDIATE; }

/* What the entry in front says of entry `counter`, or what the doorbell says of the first one. */
RDMA_INLINE void rdma_link(const struct rdma_pair* q, uint32_t counter, unsigned opcode, bool fence, unsigned size) {
    rdma_entry(q, counter - 1)[HCA_WORD_LINK] = hca_link(q->start + rdma_offset(q, counter), opcode, fence, size);
}

/* All of entry `counter` but its link. \returns its size in 16 bytes */
RDMA_INLINE unsigned rdma_write_entry(const struct rdma_pair* q, uint32_t counter, const struct rdma_work* w) {
    volatile uint64_t* const first = rdma_entry(q, counter);
    volatile uint64_t* at = first + HCA_WORD_REST;
    first[HCA_WORD_FLAGS] = hca_flags(w->signalled, w->solicited, w->immediate);
    if (!rdma_is_send(w->opcode)) {
        at[0] = hca_swap64(w->remote);
        at[1] = hca_remote_key(w->rkey);
        at += 2;
        if (rdma_is_atomic(w->opcode)) {
            at[0] = hca_swap64(w->swap_add);
            at[1] = hca_swap64(w->compare);
            at += 2;
        }
    }
    if (w->bytes) {
        at[0] = hca_data(w->bytes, w->lkey);
        at[1] = hca_swap64(w->local);
        at += 2;
    }
    return (unsigned)(at - first) / 2;
}

/* A write of up to 12 bytes that stand in the entry itself: `low` the first eight of them, `high` the rest. \returns
 * its size */
enum { RDMA_MOST_INLINE = 12 };
RDMA_INLINE unsigned rdma_write_inline(const struct rdma_pair* q, uint32_t counter, const struct rdma_work* w,
                                       uint64_t low, uint32_t high) {
    volatile uint64_t* const at = rdma_entry(q, counter);
    at[HCA_WORD_FLAGS] = hca_flags(w->signalled, w->solicited, w->immediate);
    at[HCA_WORD_REST] = hca_swap64(w->remote);
    at[HCA_WORD_REST + 1] = hca_remote_key(w->rkey);
    at[HCA_WORD_REST + 2] = hca_inline(w->bytes) | low << 32;
    at[HCA_WORD_REST + 3] = low >> 32 | (uint64_t)high << 32;
    return 6 / 2;
}

/* What changes of an entry that has been written before, with the same opcode, flags, keys and length. */
RDMA_INLINE void rdma_renew(const struct rdma_pair* q, uint32_t counter, uint64_t remote, uint64_t local) {
    volatile uint64_t* const at = rdma_entry(q, counter);
    at[HCA_WORD_REST] = hca_swap64(remote);
    at[HCA_WORD_REST + 3] = hca_swap64(local);
}

/* Announces `count` entries (1 to RDMA_MOST_RUNG) from `counter` on; of the first: opcode, fence, size. They must
 * follow those that were announced before. */
RDMA_INLINE void rdma_ring(const struct rdma_pair* q, uint32_t counter, unsigned count, unsigned opcode, bool fence,
                           unsigned size) {
    rdma_order();
    rdma_store32(q->send_record, hca_swap32((counter + count) & 0xffff));
    rdma_order();
    rdma_store64(q->doorbell, hca_send_doorbell(q->number, count, (uint16_t)counter, opcode, fence, size));
}

/* One request and its doorbell. */
RDMA_INLINE void rdma_post(const struct rdma_pair* q, uint32_t counter, const struct rdma_work* w) {
    const unsigned size = rdma_write_entry(q, counter, w);
    rdma_link(q, counter, w->opcode, w->fence, size);
    rdma_ring(q, counter, 1, w->opcode, w->fence, size);
}

/* A receive with one element; \param counter of receives that were posted before. Those of a burst share
 * rdma_receives(). */
RDMA_INLINE void rdma_write_receive(const struct rdma_pair* q, uint32_t counter, uint64_t local, uint32_t lkey,
                                    uint32_t bytes) {
    volatile uint64_t* const at =
        (volatile uint64_t*)(uintptr_t)(q->receives +
                                        ((uint64_t)(counter & ((1u << q->log_receives) - 1)) << q->log_receive_stride));
    at[HCA_WORD_REST] = hca_data(bytes, lkey);
    at[HCA_WORD_REST + 1] = hca_swap64(local);
    at[HCA_WORD_REST + 2] = hca_data(0, HCA_INVALID_LKEY);
    at[HCA_WORD_REST + 3] = 0;
}
RDMA_INLINE void rdma_receives(const struct rdma_pair* q, uint32_t posted) {
    rdma_order();
    rdma_store32(q->receive_record, hca_swap32(posted & 0xffff));
}

/* ---- completions ---- */

struct rdma_completion {
    uint32_t number;  /* of the queue pair */
    uint32_t offset;  /* of the entry in the queue pair's buffer */
    uint8_t syndrome; /* enum hca_syndrome, 0: success */
    bool is_send;
    uint32_t bytes, immediate; /* of receives */
};

RDMA_INLINE volatile uint64_t* rdma_cqe(const struct rdma_cq* cq, uint32_t consumer) {
    return (volatile uint64_t*)(uintptr_t)cq->entries +
           (uint64_t)(consumer & ((1u << cq->log_size) - 1)) * HCA_CQE_WORDS;
}

/* The last word of completion `consumer`: it has come if hca_is_mine(). */
RDMA_INLINE uint64_t rdma_look(const struct rdma_cq* cq, uint32_t consumer) {
    return rdma_load64(rdma_cqe(cq, consumer) + HCA_CQE_LAST);
}
RDMA_INLINE uint32_t rdma_entry_offset(uint64_t last_word) { return hca_swap32((uint32_t)last_word) & ~UINT32_C(63); }
RDMA_INLINE bool rdma_is_error(uint64_t last_word) { return (last_word >> 32 & 0xff) >= HCA_CQE_ERROR_RECEIVE; }
/* Of an error: why. */
RDMA_INLINE unsigned rdma_syndrome(const struct rdma_cq* cq, uint32_t consumer) {
    return rdma_load64(rdma_cqe(cq, consumer) + 2) & 0xff;
}
RDMA_INLINE uint32_t rdma_number(const struct rdma_cq* cq, uint32_t consumer) {
    return hca_swap32((uint32_t)rdma_load64(rdma_cqe(cq, consumer))) & 0xffffff;
}

/* The entry can be written again, once rdma_taken() has told the HCA. */
RDMA_INLINE void rdma_give_back(const struct rdma_cq* cq, uint32_t consumer) {
    rdma_cqe(cq, consumer)[HCA_CQE_LAST] = HCA_CQE_GIVEN_BACK;
}
RDMA_INLINE void rdma_taken(const struct rdma_cq* cq, uint32_t consumer) {
    rdma_order();
    rdma_store32(cq->record, hca_swap32(consumer));
}

/* Takes the next completion, if there is one. */
RDMA_INLINE bool rdma_poll(const struct rdma_cq* cq, uint32_t* consumer, struct rdma_completion* c) {
    const uint64_t last = rdma_look(cq, *consumer);
    if (!hca_is_mine(last)) return false;
    const uint64_t third = rdma_load64(rdma_cqe(cq, *consumer) + 2); /* immediate or syndrome, bytes */
    c->number = rdma_number(cq, *consumer);
    c->offset = rdma_entry_offset(last);
    c->syndrome = rdma_is_error(last) ? (uint8_t)third : 0;
    c->is_send = rdma_is_error(last) ? (last >> 32 & 0xff) == HCA_CQE_ERROR_SEND : last >> 47 & 1;
    c->immediate = hca_swap32((uint32_t)third);
    c->bytes = hca_swap32((uint32_t)(third >> 32));
    rdma_give_back(cq, *consumer);
    rdma_taken(cq, ++*consumer);
    return true;
}

/* How many sends have ended, of which `ended` were known, when the entry at `offset` has. */
RDMA_INLINE uint32_t rdma_ended(const struct rdma_pair* q, uint32_t ended, uint32_t offset) {
    const uint32_t mask = (1u << q->log_sends) - 1, index = (offset - q->start) >> q->log_stride;
    return ended + ((index - ended) & mask) + 1;
}

#endif
