/* SPDX-License-Identifier: Apache-2.0 */
/* A partitioned global address space in the manner of GPI-2, for kernels (one lane of a work-group calls; include gpu.h
 * before) and for harts alike: writes to the other node's segment, notifications, waiting for them, a barrier. A link
 * is a queue pair to one other node, of one caller. A notification is a word of the other one's board; behind a write
 * of the same link it arrives after that write's data, in the order in which their memory takes them. */
#ifndef FABRICVP_GPU_PGAS_PGAS_H
#define FABRICVP_GPU_PGAS_PGAS_H

#include "gpu/verbs/verbs.h"

struct pgas_segment {
    uint64_t at;            /* as its owner sees it */
    uint64_t local, remote; /* addresses for its key: here, and of the other node's */
    uint32_t lkey, rkey;
};

/* What a caller is told, and what is kept from one caller to the next. */
struct pgas_link {
    struct rdma_qp qp;
    struct rdma_cq cq;
    struct pgas_segment data, notifications; /* board: notifications, PGAS_NOTIFICATION_BYTES */
    uint32_t posted, retired, consumer;
    uint32_t syndrome; /* of the first request that failed; from then on nothing is posted */
    uint32_t barriers, reserved;
};

enum {
    PGAS_NOTIFICATIONS = 511,
    PGAS_BARRIER = PGAS_NOTIFICATIONS,
    PGAS_NOTIFICATION_BYTES = 8 * (PGAS_NOTIFICATIONS + 1)
};

/* Takes the completions that are there. */
RDMA_INLINE void pgas_progress(struct pgas_link* l) {
    uint32_t found = 0;
    for (uint64_t last; hca_cqe_software_owned(last = rdma_peek_cqe(&l->cq, l->consumer)); ++found) {
        if (rdma_cqe_is_error(last) && !l->syndrome) l->syndrome = rdma_cqe_syndrome(&l->cq, l->consumer);
        l->retired = rdma_retired(&l->qp, l->retired, rdma_cqe_wqe_offset(last));
        rdma_release_cqe(&l->cq, l->consumer++);
    }
    if (found) rdma_update_consumer_record(&l->cq, l->consumer);
}

/* Waits until all that was posted has ended: its memory may be written again. \returns false if something failed */
RDMA_APART bool pgas_flush(struct pgas_link* l) {
    while (l->retired != l->posted && !l->syndrome) pgas_progress(l);
    return !l->syndrome;
}

RDMA_INLINE bool pgas_reserve_wqes(struct pgas_link* l, uint32_t entries) {
    while (l->posted + entries - l->retired > 1u << l->qp.log_sq_size && !l->syndrome) pgas_progress(l);
    return !l->syndrome;
}

/* A request with memory of both segments, given by offsets. */
RDMA_INLINE struct rdma_work_request pgas_request(const struct pgas_link* l, unsigned opcode, uint64_t own,
                                                  uint64_t other, uint32_t bytes) {
    return (struct rdma_work_request){.opcode = opcode,
                                      .signalled = true,
                                      .remote = l->data.remote + other,
                                      .rkey = l->data.rkey,
                                      .local = l->data.local + own,
                                      .lkey = l->data.lkey,
                                      .bytes = bytes};
}

/* Entry `counter`, which is not announced yet. \returns its size */
RDMA_INLINE unsigned pgas_write_wqe(const struct pgas_link* l, uint32_t counter, const struct rdma_work_request* w) {
    const unsigned size = rdma_write_wqe(&l->qp, counter, w);
    rdma_link_wqe(&l->qp, counter, w->opcode, false, size);
    return size;
}

RDMA_INLINE unsigned pgas_write_notification_wqe(struct pgas_link* l, uint32_t counter, unsigned slot, uint64_t value) {
    const struct rdma_work_request w = {.opcode = HCA_OP_WRITE,
                                        .signalled = true,
                                        .remote = l->notifications.remote + 8 * slot,
                                        .rkey = l->notifications.rkey,
                                        .bytes = 8};
    const unsigned size = rdma_write_inline_wqe(&l->qp, counter, &w, value, 0);
    rdma_link_wqe(&l->qp, counter, w.opcode, false, size);
    return size;
}

/* Announces `count` entries, the first of which has that opcode and size. */
RDMA_INLINE void pgas_ring_doorbell(struct pgas_link* l, unsigned count, unsigned opcode, unsigned size) {
    rdma_ring_doorbell(&l->qp, l->posted, count, opcode, false, size);
    l->posted += count;
}

/* One request. \returns false if the link has failed, or the request is for 2 GiB or more */
RDMA_INLINE bool pgas_post(struct pgas_link* l, const struct rdma_work_request* w) {
    if (w->bytes >> 31 || !pgas_reserve_wqes(l, 1)) return false;
    pgas_ring_doorbell(l, 1, w->opcode, pgas_write_wqe(l, l->posted, w));
    return true;
}

/* Writes `bytes` (not 0, below 2 GiB) from offset `from` of the own segment to offset `to` of the other one's. \returns
 * false if the link has failed */
RDMA_APART bool pgas_write(struct pgas_link* l, uint64_t from, uint64_t to, uint32_t bytes) {
    const struct rdma_work_request w = pgas_request(l, HCA_OP_WRITE, from, to, bytes);
    return pgas_post(l, &w);
}

/* The other way round: they are there when the link has been flushed. */
RDMA_APART bool pgas_read(struct pgas_link* l, uint64_t to, uint64_t from, uint32_t bytes) {
    const struct rdma_work_request w = pgas_request(l, HCA_OP_READ, to, from, bytes);
    return pgas_post(l, &w);
}

/* \param slot below PGAS_NOTIFICATIONS \param value not what stands there */
RDMA_APART bool pgas_notify(struct pgas_link* l, unsigned slot, uint64_t value) {
    if (!pgas_reserve_wqes(l, 1)) return false;
    pgas_ring_doorbell(l, 1, HCA_OP_WRITE, pgas_write_notification_wqe(l, l->posted, slot, value));
    return true;
}

/* Both, with one doorbell and one completion. */
RDMA_APART bool pgas_write_notify(struct pgas_link* l, uint64_t from, uint64_t to, uint32_t bytes, unsigned slot,
                                  uint64_t value) {
    if (bytes >> 31 || !pgas_reserve_wqes(l, 2)) return false;
    struct rdma_work_request w = pgas_request(l, HCA_OP_WRITE, from, to, bytes);
    w.signalled = false;
    const unsigned size = pgas_write_wqe(l, l->posted, &w);
    pgas_write_notification_wqe(l, l->posted + 1, slot, value);
    pgas_ring_doorbell(l, 2, HCA_OP_WRITE, size);
    return true;
}

RDMA_INLINE uint64_t pgas_read_notification(const struct pgas_link* l, unsigned slot) {
    return rdma_load64((const volatile uint64_t*)(uintptr_t)l->notifications.at + slot);
}

/* Waits until `slot` of the own board holds `value`. What was written before it on that link can be loaded then. */
RDMA_APART void pgas_wait(const struct pgas_link* l, unsigned slot, uint64_t value) {
    while (pgas_read_notification(l, slot) != value) rdma_pause();
    rdma_acquire();
}

/* Waits for any of `count` slots from `first` on that is not 0, and clears it. \returns which one */
RDMA_INLINE unsigned pgas_wait_some(const struct pgas_link* l, unsigned first, unsigned count, uint64_t* value) {
    for (unsigned i = 0;; i = i + 1 == count ? 0 : i + 1) {
        *value = pgas_read_notification(l, first + i);
        if (!*value) continue;
        rdma_store64(l->notifications.at + 8 * (first + i), 0);
        rdma_order();
        rdma_acquire();
        return first + i;
    }
}

/* Until the other end of the link has come here as often. */
RDMA_APART bool pgas_barrier(struct pgas_link* l) {
    const uint64_t number = ++l->barriers;
    if (!pgas_notify(l, PGAS_BARRIER, number)) return false;
    while (pgas_read_notification(l, PGAS_BARRIER) < number) rdma_pause();
    rdma_acquire();
    return true;
}

#endif
