/* SPDX-License-Identifier: Apache-2.0 */
/* One poster's part in a team's messages, for a lane and for a hart alike. Each of the team writes its own entries; who
 * comes last rings; the first one polls. */
#ifndef FABRICVP_GPU_KERNELS_RDMA_WRITER_H
#define FABRICVP_GPU_KERNELS_RDMA_WRITER_H

#include "gpu/verbs/verbs.h"
#include "rdma.h"

/* What a team of several shares, in their local data share. */
struct rdma_board {
    uint32_t arrived; /* at doorbells, all of them summed */
    uint32_t rung;    /* doorbells */
    uint32_t ended;   /* messages */
    uint32_t stop;
};

struct rdma_writer {
    const struct rdma_writes_arguments* a;
    struct rdma_pair pair;
    struct rdma_cq cq;
    volatile struct rdma_board* board; /* NULL: alone */
    unsigned team, lane;
    uint32_t head, consumer, ended, polls, syndrome, failed;
    uint64_t writing, ringing, polling;
};

RDMA_INLINE uint64_t rdma_slot(const struct rdma_writer* w, uint32_t message) {
    return (uint64_t)(w->team * w->a->slots + (message & (w->a->slots - 1))) * w->a->pitch;
}

/* Entry `counter`, with message `message`. \returns its size */
RDMA_INLINE unsigned rdma_fill(const struct rdma_writer* w, uint32_t counter, uint32_t message) {
    const struct rdma_writes_arguments* a = w->a;
    const uint64_t slot = rdma_slot(w, message);
    const struct rdma_work work = {.opcode = a->flags & RDMA_READS ? HCA_OP_READ : HCA_OP_WRITE,
                                   .signalled = ((counter + 1) & (a->signal - 1)) == 0,
                                   .remote = a->remote + slot,
                                   .rkey = a->rkey,
                                   .local = a->local + slot,
                                   .lkey = a->lkey,
                                   .bytes = a->bytes};
    unsigned size;
    if (a->flags & RDMA_IN_ENTRY)
        size = rdma_write_inline(&w->pair, counter, &work, *(const uint64_t*)(uintptr_t)work.local, 0);
    else
        size = rdma_write_entry(&w->pair, counter, &work);
    rdma_link(&w->pair, counter, work.opcode, false, size);
    return size;
}

/* Takes what has come. */
RDMA_INLINE void rdma_collect(struct rdma_writer* w, uint32_t first) {
    uint32_t found = 0;
    for (;; ++found) {
        const uint64_t last = rdma_look(&w->cq, w->consumer);
        ++w->polls;
        if (!hca_is_mine(last)) break;
        const uint32_t ended = rdma_ended(&w->pair, first + w->ended, rdma_entry_offset(last)) - first;
        if (rdma_is_error(last) && !w->syndrome) {
            w->syndrome = rdma_syndrome(&w->cq, w->consumer);
            w->failed = ended - 1;
        }
        if (!w->syndrome) w->ended = ended;
        rdma_give_back(&w->cq, w->consumer++);
    }
    if (found) rdma_taken(&w->cq, w->consumer);
}

/* Waits until at most `under_way` of `posted` messages have not ended. \returns false if something went wrong */
RDMA_INLINE bool rdma_await(struct rdma_writer* w, uint32_t first, uint32_t posted, uint32_t under_way) {
    if (!w->board) {
        while (posted - w->ended > under_way && !w->syndrome) rdma_collect(w, first);
        return !w->syndrome;
    }
    while (posted - w->board->ended > under_way && !w->board->stop) {
        if (w->lane == 0) {
            rdma_collect(w, first);
            w->board->ended = w->ended;
            w->board->stop = w->syndrome != 0;
        } else {
            rdma_pause();
        }
    }
    return !w->board->stop;
}

/* \returns whether this one is the last of the team to come to doorbell `number` */
RDMA_INLINE bool rdma_is_last(const struct rdma_writer* w, uint32_t number) {
#ifdef FABRICVP_KERNEL
    if (w->board) {
        rdma_order(); /* what this lane wrote comes before what the last one rings */
        return atomic_add_u32(&w->board->arrived, 1) + 1 == (number + 1) * w->a->lanes;
    }
#endif
    (void)number;
    return w->lane == 0;
}

/* How many entries go with the next doorbell, when `posted` messages are. */
RDMA_INLINE uint32_t rdma_part(const struct rdma_writer* w, uint32_t posted) {
    const uint32_t left = w->a->messages - posted;
    return left < w->a->batch ? left : w->a->batch;
}

/* This poster's entries among `part`, behind `posted` messages. */
RDMA_INLINE void rdma_fill_part(const struct rdma_writer* w, uint32_t first, uint32_t posted, uint32_t part) {
    const struct rdma_writes_arguments* a = w->a;
    for (uint32_t i = w->lane; i < part; i += a->lanes) {
        if (a->flags & RDMA_REUSE)
            rdma_renew(&w->pair, first + posted + i, a->remote + rdma_slot(w, posted + i),
                       a->local + rdma_slot(w, posted + i));
        else
            rdma_fill(w, first + posted + i, posted + i);
    }
}

enum { RDMA_ENTRY_SIZE = 3 }; /* of 16 bytes: of all that is posted here */
RDMA_INLINE void rdma_ring_part(const struct rdma_writer* w, uint32_t first, uint32_t posted, uint32_t part) {
    rdma_ring(&w->pair, first + posted, part, w->a->flags & RDMA_READS ? HCA_OP_READ : HCA_OP_WRITE, false,
              RDMA_ENTRY_SIZE);
}

/* Before the clock starts. */
RDMA_INLINE void rdma_prepare(const struct rdma_writer* w) {
    if (!(w->a->flags & RDMA_REUSE)) return;
    for (uint32_t i = w->lane; i < 1u << w->pair.log_sends; i += w->a->lanes) rdma_fill(w, w->head + i, i);
    rdma_order();
}

RDMA_INLINE void rdma_tell(const struct rdma_writer* w, uint64_t cycles) {
    struct rdma_team* t = (struct rdma_team*)(uintptr_t)w->a->teams + w->team;
    t->head = w->head;
    t->consumer = w->consumer;
    t->ended = w->ended;
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
    rdma_prepare(w);
    const uint64_t begin = rdma_cycles();
    uint64_t then = begin, now;
    uint32_t posted = 0;
    for (uint32_t round = 0; posted < w->a->messages; ++round) {
        const uint32_t part = rdma_part(w, posted);
        if (!rdma_await(w, first, posted + part, w->a->window)) break;
        if (timed) now = rdma_cycles(), w->polling += now - then, then = now;
        rdma_fill_part(w, first, posted, part);
        if (timed) now = rdma_cycles(), w->writing += now - then, then = now;
        if (rdma_is_last(w, round)) {
            rdma_ring_part(w, first, posted, part);
            if (w->board) w->board->rung = round + 1;
        } else {
            while (w->board->rung == round) rdma_pause(); /* nobody is ahead of who comes last */
        }
        if (timed) now = rdma_cycles(), w->ringing += now - then, then = now;
        posted += part;
    }
    rdma_await(w, first, posted, 0);
    now = rdma_cycles();
    if (timed) w->polling += now - then;
    w->head = first + posted;
    if (w->lane == 0) rdma_tell(w, now - begin);
}

RDMA_INLINE void rdma_writer_begin(struct rdma_writer* w, const struct rdma_writes_arguments* a, unsigned team,
                                   unsigned lane, volatile struct rdma_board* board) {
    const struct rdma_team* t = (const struct rdma_team*)(uintptr_t)a->teams + team;
    *w = (struct rdma_writer){.a = a,
                              .pair = ((const struct rdma_pair*)(uintptr_t)a->pairs)[team],
                              .cq = ((const struct rdma_cq*)(uintptr_t)a->cqs)[team],
                              .board = board,
                              .team = team,
                              .lane = lane,
                              .head = t->head,
                              .consumer = t->consumer};
}

#endif
