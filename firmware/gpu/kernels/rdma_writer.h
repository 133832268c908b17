/* SPDX-License-Identifier: Apache-2.0 */
/* One poster's part in a poster group's messages, for a lane and for a hart alike. Each poster writes its own WQEs; the
 * last one to finish rings; the first one polls. */
#ifndef FABRICVP_GPU_KERNELS_RDMA_WRITER_H
#define FABRICVP_GPU_KERNELS_RDMA_WRITER_H

#include "gpu/verbs/verbs.h"
#include "rdma.h"

/* State of a poster group of several lanes, in their local data share. */
struct rdma_group_state {
    uint32_t arrived;   /* at doorbells, all of them summed */
    uint32_t doorbells; /* doorbells */
    uint32_t completed; /* messages */
    uint32_t stop;
};

struct rdma_writer {
    const struct rdma_writes_arguments* a;
    struct rdma_qp qp;
    struct rdma_cq cq;
    volatile struct rdma_group_state* group_state; /* NULL: alone */
    unsigned poster_group, lane;
    uint32_t head, consumer, completed, polls, syndrome, failed;
    uint64_t writing, ringing, polling;
};

RDMA_INLINE uint64_t rdma_slot(const struct rdma_writer* w, uint32_t message) {
    return (uint64_t)(w->poster_group * w->a->slots + (message & (w->a->slots - 1))) * w->a->pitch;
}

/* Entry `counter`, with message `message`. \returns its size */
RDMA_INLINE unsigned rdma_build_wqe(const struct rdma_writer* w, uint32_t counter, uint32_t message) {
    const struct rdma_writes_arguments* a = w->a;
    const uint64_t slot = rdma_slot(w, message);
    const struct rdma_work_request work = {.opcode = a->flags & RDMA_READS ? HCA_OP_READ : HCA_OP_WRITE,
                                           .signalled = ((counter + 1) & (a->signal - 1)) == 0,
                                           .remote = a->remote + slot,
                                           .rkey = a->rkey,
                                           .local = a->local + slot,
                                           .lkey = a->lkey,
                                           .bytes = a->bytes};
    unsigned size;
    if (a->flags & RDMA_INLINE_DATA)
        size = rdma_write_inline_wqe(&w->qp, counter, &work, *(const uint64_t*)(uintptr_t)work.local, 0);
    else
        size = rdma_write_wqe(&w->qp, counter, &work);
    rdma_link_wqe(&w->qp, counter, work.opcode, false, size);
    return size;
}

/* Takes what has come. */
RDMA_INLINE void rdma_poll_completions(struct rdma_writer* w, uint32_t first) {
    uint32_t polled = 0;
    for (;; ++polled) {
        const uint64_t last = rdma_peek_cqe(&w->cq, w->consumer);
        ++w->polls;
        if (!hca_cqe_software_owned(last)) break;
        const uint32_t completed = rdma_retired(&w->qp, first + w->completed, rdma_cqe_wqe_offset(last)) - first;
        if (rdma_cqe_is_error(last) && !w->syndrome) {
            w->syndrome = rdma_cqe_syndrome(&w->cq, w->consumer);
            w->failed = completed - 1;
        }
        if (!w->syndrome) w->completed = completed;
        rdma_release_cqe(&w->cq, w->consumer++);
    }
    if (polled) rdma_update_consumer_record(&w->cq, w->consumer);
}

/* Waits until at most `in_flight` of `posted` messages have not ended. \returns false if something went wrong */
RDMA_INLINE bool rdma_await(struct rdma_writer* w, uint32_t first, uint32_t posted, uint32_t in_flight) {
    if (!w->group_state) {
        while (posted - w->completed > in_flight && !w->syndrome) rdma_poll_completions(w, first);
        return !w->syndrome;
    }
    while (posted - w->group_state->completed > in_flight && !w->group_state->stop) {
        if (w->lane == 0) {
            rdma_poll_completions(w, first);
            w->group_state->completed = w->completed;
            w->group_state->stop = w->syndrome != 0;
        } else {
            rdma_pause();
        }
    }
    return !w->group_state->stop;
}

/* \returns whether this one is the last of its group to come to doorbell `number` */
RDMA_INLINE bool rdma_is_last(const struct rdma_writer* w, uint32_t number) {
#ifdef FABRICVP_KERNEL
    if (w->group_state) {
        rdma_order(); /* what this lane wrote comes before what the last one rings */
        return atomic_add_u32(&w->group_state->arrived, 1) + 1 == (number + 1) * w->a->lanes;
    }
#endif
    (void)number;
    return w->lane == 0;
}

/* How many entries go with the next doorbell, when `posted` messages are. */
RDMA_INLINE uint32_t rdma_batch_size(const struct rdma_writer* w, uint32_t posted) {
    const uint32_t left = w->a->messages - posted;
    return left < w->a->batch ? left : w->a->batch;
}

/* This poster's entries among `count`, behind `posted` messages. */
RDMA_INLINE void rdma_build_batch(const struct rdma_writer* w, uint32_t first, uint32_t posted, uint32_t count) {
    const struct rdma_writes_arguments* a = w->a;
    for (uint32_t i = w->lane; i < count; i += a->lanes) {
        if (a->flags & RDMA_REUSE)
            rdma_update_wqe(&w->qp, first + posted + i, a->remote + rdma_slot(w, posted + i),
                            a->local + rdma_slot(w, posted + i));
        else
            rdma_build_wqe(w, first + posted + i, posted + i);
    }
}

enum { RDMA_WQE_SIZE = 3 }; /* of 16 bytes: of all that is posted here */
RDMA_INLINE void rdma_ring_batch(const struct rdma_writer* w, uint32_t first, uint32_t posted, uint32_t count) {
    rdma_ring_doorbell(&w->qp, first + posted, count, w->a->flags & RDMA_READS ? HCA_OP_READ : HCA_OP_WRITE, false,
                       RDMA_WQE_SIZE);
}

/* Before the clock starts. */
RDMA_INLINE void rdma_prebuild_wqes(const struct rdma_writer* w) {
    if (!(w->a->flags & RDMA_REUSE)) return;
    for (uint32_t i = w->lane; i < 1u << w->qp.log_sq_size; i += w->a->lanes) rdma_build_wqe(w, w->head + i, i);
    rdma_order();
}

RDMA_INLINE void rdma_report(const struct rdma_writer* w, uint64_t cycles) {
    struct rdma_poster_group* t = (struct rdma_poster_group*)(uintptr_t)w->a->poster_groups + w->poster_group;
    t->head = w->head;
    t->consumer = w->consumer;
    t->completed = w->completed;
    t->syndrome = w->syndrome;
    t->failed = w->failed;
    t->polls = w->polls;
    t->cycles = cycles;
    t->writing = w->writing;
    t->ringing = w->ringing;
    t->polling = w->polling;
}

RDMA_INLINE void rdma_write_all(struct rdma_writer* w) {
    const unsigned timed = w->a->flags & RDMA_TIMED;
    const uint32_t first = w->head;
    rdma_prebuild_wqes(w);
    const uint64_t begin = rdma_cycles();
    uint64_t then = begin, now;
    uint32_t posted = 0;
    for (uint32_t round = 0; posted < w->a->messages; ++round) {
        const uint32_t count = rdma_batch_size(w, posted);
        if (!rdma_await(w, first, posted + count, w->a->window)) break;
        if (timed) now = rdma_cycles(), w->polling += now - then, then = now;
        rdma_build_batch(w, first, posted, count);
        if (timed) now = rdma_cycles(), w->writing += now - then, then = now;
        if (rdma_is_last(w, round)) {
            rdma_ring_batch(w, first, posted, count);
            if (w->group_state) w->group_state->doorbells = round + 1;
        } else {
            while (w->group_state->doorbells == round) rdma_pause(); /* none is ahead of the last one */
        }
        if (timed) now = rdma_cycles(), w->ringing += now - then, then = now;
        posted += count;
    }
    rdma_await(w, first, posted, 0);
    now = rdma_cycles();
    if (timed) w->polling += now - then;
    w->head = first + posted;
    if (w->lane == 0) rdma_report(w, now - begin);
}

RDMA_INLINE void rdma_writer_begin(struct rdma_writer* w, const struct rdma_writes_arguments* a, unsigned poster_group,
                                   unsigned lane, volatile struct rdma_group_state* group_state) {
    const struct rdma_poster_group* t = (const struct rdma_poster_group*)(uintptr_t)a->poster_groups + poster_group;
    *w = (struct rdma_writer){.a = a,
                              .qp = ((const struct rdma_qp*)(uintptr_t)a->qps)[poster_group],
                              .cq = ((const struct rdma_cq*)(uintptr_t)a->cqs)[poster_group],
                              .group_state = group_state,
                              .poster_group = poster_group,
                              .lane = lane,
                              .head = t->head,
                              .consumer = t->consumer};
}

#endif
