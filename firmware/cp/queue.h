/* SPDX-License-Identifier: Apache-2.0 */
/* User-mode queues. Each belongs to one hart, so that nothing of them needs a lock. */
#ifndef FABRICVP_CP_QUEUE_H
#define FABRICVP_CP_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/gpu.h"

enum { LAUNCHES = 8 };  /* a hart's kernels under way */

/* A launch names its packet to the hardware by a cookie. */
static inline uint32_t make_cookie(unsigned queue, unsigned slot, uint64_t packet) {
    return queue << 24 | slot << 16 | (uint32_t)(packet & 0xffff);
}
static inline unsigned cookie_queue(uint32_t cookie) { return cookie >> 24; }
static inline unsigned cookie_slot(uint32_t cookie) { return cookie >> 16 & 0xff; }
static inline uint64_t cookie_packet(uint32_t cookie) { return cookie & 0xffff; }

struct queue {
    bool active;
    unsigned hart, index;
    uint32_t packets, address_space, priority;
    uint64_t ring, read_index_at, scratch, scratch_bytes;
    uint64_t next;       /* packet to look at */
    uint64_t limit;      /* packets below it may be ready */
    unsigned under_way;  /* kernels launched and not finished */
};

/* Reads the host's tables again: queues that came or went, page tables. */
void queues_update(unsigned hart, unsigned harts);
/* Takes doorbells. */
void queues_rung(unsigned hart, unsigned harts);
/* Looks at all queues of a hart once, the more important first. True if one of them waits for something that makes no event. */
bool queues_work(unsigned hart, unsigned harts);
/* Finishes the launches that the dispatcher reports done. */
void queues_finish(unsigned hart);

#endif
