/* SPDX-License-Identifier: Apache-2.0 */
/* User-mode queues. Each belongs to one hart, so that nothing of them needs a lock. */
#ifndef FABRICVP_CP_QUEUE_H
#define FABRICVP_CP_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/gpu.h"

enum { PRIORITIES = 3 };

struct queue {
    bool active;
    unsigned hart, index;
    uint32_t packets, address_space, priority;
    uint64_t ring, read_index_at, scratch, scratch_bytes;
    uint64_t next;       /* packet to look at */
    unsigned under_way;  /* kernels launched and not finished */
};

/* What a hart has to do next. */
enum work { WORK_NONE, WORK_WAITS, WORK_DONE };

/* Reads the host's tables again: queues that came or went, page tables. */
void queues_update(unsigned hart, unsigned harts);
/* Takes doorbells. */
void queues_rung(unsigned hart, unsigned harts);
/* Executes one packet: of the more important queues first, in turn among equals. WORK_NONE: none is ready before the next
 * event. WORK_WAITS: none is ready, and what one of them waits for makes no event. */
enum work queues_work(unsigned hart);
/* Finishes the launches that the dispatcher reports done. */
void queues_finish(unsigned hart);

#endif
