/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs without a driver: writes work queue entries, rings doorbells and polls completions of queues that a driver has
 * made (firmware/drivers/verbs) and described (queues.h). Nothing here waits or locks: a
 * queue belongs to one poster at a time, or to several that agree on which of them writes which WQE and rings. */
#ifndef FABRICVP_GPU_VERBS_VERBS_H
#define FABRICVP_GPU_VERBS_VERBS_H

#include "abi/hca_post.h"
#include "gpu/verbs/arch.h"
#include "gpu/verbs/queues.h"

/* ---- posting ---- */

enum { RDMA_MAX_WQES_PER_DOORBELL = 255 }; /* entries a doorbell */

struct rdma_work_request {
    unsigned opcode; /* enum hca_opcode */
    bool signalled, solicited, fence;
    uint32_t immediate;
    uint64_t remote; /* of writes, reads, atomics */
    uint32_t rkey;
    uint64_t local; /* bytes 0: no data segment; 2 GiB and more cannot be said */
    uint32_t lkey, bytes;
    uint64_t swap_add, compare; /* of atomics */
};

RDMA_INLINE uint32_t rdma_wqe_offset(const struct rdma_qp* q, uint32_t counter) {
    return (counter & ((1u << q->log_sq_size) - 1)) << q->log_sq_stride;
}
RDMA_INLINE volatile uint64_t* rdma_wqe(const struct rdma_qp* q, uint32_t counter) {
    return (volatile uint64_t*)(uintptr_t)(q->send_queue + rdma_wqe_offset(q, counter));
}
RDMA_INLINE bool rdma_is_atomic(unsigned opcode) { return opcode == HCA_OP_COMPARE_SWAP || opcode == HCA_OP_FETCH_ADD; }
RDMA_INLINE bool rdma_is_send(unsigned opcode) { return opcode == HCA_OP_SEND || opcode == HCA_OP_SEND_IMMEDIATE; }

/* What the entry in front says of entry `counter`, or what the doorbell says of the first one. */
RDMA_INLINE void rdma_link_wqe(const struct rdma_qp* q, uint32_t counter, unsigned opcode, bool fence, unsigned size) {
    rdma_wqe(q, counter - 1)[HCA_WORD_NEXT] =
        hca_next_segment(q->start + rdma_wqe_offset(q, counter), opcode, fence, size);
}

/* All of entry `counter` but its link, of a request below 2 GiB. \returns its size in 16 bytes */
RDMA_INLINE unsigned rdma_write_wqe(const struct rdma_qp* q, uint32_t counter, const struct rdma_work_request* w) {
    volatile uint64_t* const first = rdma_wqe(q, counter);
    volatile uint64_t* at = first + HCA_WORD_SEGMENTS;
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
enum { RDMA_MAX_INLINE = 12 };
RDMA_INLINE unsigned rdma_write_inline_wqe(const struct rdma_qp* q, uint32_t counter, const struct rdma_work_request* w,
                                           uint64_t low, uint32_t high) {
    volatile uint64_t* const at = rdma_wqe(q, counter);
    at[HCA_WORD_FLAGS] = hca_flags(w->signalled, w->solicited, w->immediate);
    at[HCA_WORD_SEGMENTS] = hca_swap64(w->remote);
    at[HCA_WORD_SEGMENTS + 1] = hca_remote_key(w->rkey);
    at[HCA_WORD_SEGMENTS + 2] = hca_inline(w->bytes) | low << 32;
    at[HCA_WORD_SEGMENTS + 3] = low >> 32 | (uint64_t)high << 32;
    return 6 / 2;
}

/* What changes of an entry that has been written before, with the same opcode, flags, keys and length. */
RDMA_INLINE void rdma_update_wqe(const struct rdma_qp* q, uint32_t counter, uint64_t remote, uint64_t local) {
    volatile uint64_t* const at = rdma_wqe(q, counter);
    at[HCA_WORD_SEGMENTS] = hca_swap64(remote);
    at[HCA_WORD_SEGMENTS + 3] = hca_swap64(local);
}

/* The two stores of a doorbell, without the order that each needs behind what was written before it. */
RDMA_INLINE void rdma_store_send_record(const struct rdma_qp* q, uint32_t end) {
    rdma_store32(q->send_doorbell_record, hca_swap32(end & 0xffff));
}
RDMA_INLINE void rdma_store_doorbell(const struct rdma_qp* q, uint32_t counter, unsigned count, unsigned opcode,
                                     bool fence, unsigned size) {
    rdma_store64(q->doorbell, hca_send_doorbell(q->number, count, (uint16_t)counter, opcode, fence, size));
}

/* Announces `count` entries (1 to RDMA_MAX_WQES_PER_DOORBELL) from `counter` on; of the first: opcode, fence, size.
 * They must follow those that were announced before. */
RDMA_INLINE void rdma_ring_doorbell(const struct rdma_qp* q, uint32_t counter, unsigned count, unsigned opcode,
                                    bool fence, unsigned size) {
    rdma_order_record();
    rdma_store_send_record(q, counter + count);
    rdma_order();
    rdma_store_doorbell(q, counter, count, opcode, fence, size);
}

/* One request and its doorbell. \returns false if it has too many bytes, and nothing is posted */
RDMA_INLINE bool rdma_post(const struct rdma_qp* q, uint32_t counter, const struct rdma_work_request* w) {
    if (w->bytes >> 31) return false;
    const unsigned size = rdma_write_wqe(q, counter, w);
    rdma_link_wqe(q, counter, w->opcode, w->fence, size);
    rdma_ring_doorbell(q, counter, 1, w->opcode, w->fence, size);
    return true;
}

/* A receive with one element, below 2 GiB; \param counter of receives that were posted before. Those of a burst share
 * rdma_update_receive_record(). */
RDMA_INLINE void rdma_write_receive_wqe(const struct rdma_qp* q, uint32_t counter, uint64_t local, uint32_t lkey,
                                        uint32_t bytes) {
    volatile uint64_t* const at =
        (volatile uint64_t*)(uintptr_t)(q->receive_queue +
                                        ((uint64_t)(counter & ((1u << q->log_rq_size) - 1)) << q->log_rq_stride));
    at[HCA_WORD_SEGMENTS] = hca_data(bytes, lkey);
    at[HCA_WORD_SEGMENTS + 1] = hca_swap64(local);
    at[HCA_WORD_SEGMENTS + 2] = hca_data(0, HCA_INVALID_LKEY);
    at[HCA_WORD_SEGMENTS + 3] = 0;
}
RDMA_INLINE void rdma_update_receive_record(const struct rdma_qp* q, uint32_t posted) {
    rdma_order();
    rdma_store32(q->receive_doorbell_record, hca_swap32(posted & 0xffff));
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

/* The last word of completion `consumer`: it has come if hca_cqe_software_owned(). */
RDMA_INLINE uint64_t rdma_peek_cqe(const struct rdma_cq* cq, uint32_t consumer) {
    return rdma_load64(rdma_cqe(cq, consumer) + HCA_CQE_LAST);
}
RDMA_INLINE uint32_t rdma_cqe_wqe_offset(uint64_t last_word) { return hca_swap32((uint32_t)last_word) & ~UINT32_C(63); }
RDMA_INLINE bool rdma_cqe_is_error(uint64_t last_word) { return (last_word >> 32 & 0xff) >= HCA_CQE_ERROR_RECEIVE; }
/* Of an error: why. */
RDMA_INLINE unsigned rdma_cqe_syndrome(const struct rdma_cq* cq, uint32_t consumer) {
    return rdma_load64(rdma_cqe(cq, consumer) + 2) & 0xff;
}
RDMA_INLINE uint32_t rdma_cqe_qpn(const struct rdma_cq* cq, uint32_t consumer) {
    return hca_swap32((uint32_t)rdma_load64(rdma_cqe(cq, consumer))) & 0xffffff;
}

/* The entry can be written again, once rdma_update_consumer_record() has told the HCA. */
RDMA_INLINE void rdma_release_cqe(const struct rdma_cq* cq, uint32_t consumer) {
    rdma_cqe(cq, consumer)[HCA_CQE_LAST] = HCA_CQE_HARDWARE_OWNED;
}
/* The record's store, without the order that it needs behind the entries that were given back. */
RDMA_INLINE void rdma_store_consumer_record(const struct rdma_cq* cq, uint32_t consumer) {
    rdma_store32(cq->record, hca_swap32(consumer));
}
RDMA_INLINE void rdma_update_consumer_record(const struct rdma_cq* cq, uint32_t consumer) {
    rdma_order_consumer_record();
    rdma_store_consumer_record(cq, consumer);
}

/* Takes the next completion, if there is one; the consumer's record is the caller's to update. */
RDMA_INLINE bool rdma_take(const struct rdma_cq* cq, uint32_t* consumer, struct rdma_completion* c) {
    const uint64_t last = rdma_peek_cqe(cq, *consumer);
    if (!hca_cqe_software_owned(last)) return false;
    const uint64_t third = rdma_load64(rdma_cqe(cq, *consumer) + 2); /* immediate or syndrome, bytes */
    c->number = rdma_cqe_qpn(cq, *consumer);
    c->offset = rdma_cqe_wqe_offset(last);
    c->syndrome = rdma_cqe_is_error(last) ? (uint8_t)third : 0;
    c->is_send = rdma_cqe_is_error(last) ? (last >> 32 & 0xff) == HCA_CQE_ERROR_SEND : last >> 47 & 1;
    c->immediate = hca_swap32((uint32_t)third);
    c->bytes = hca_swap32((uint32_t)(third >> 32));
    rdma_release_cqe(cq, (*consumer)++);
    return true;
}
/* Takes the next completion, if there is one. */
RDMA_INLINE bool rdma_poll(const struct rdma_cq* cq, uint32_t* consumer, struct rdma_completion* c) {
    if (!rdma_take(cq, consumer, c)) return false;
    rdma_update_consumer_record(cq, *consumer);
    return true;
}

/* How many sends have ended, of which `ended` were known, when the entry at `offset` has. */
RDMA_INLINE uint32_t rdma_retired(const struct rdma_qp* q, uint32_t retired, uint32_t offset) {
    const uint32_t mask = (1u << q->log_sq_size) - 1, index = (offset - q->start) >> q->log_sq_stride;
    return retired + ((index - retired) & mask) + 1;
}

#endif
