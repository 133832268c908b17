/* SPDX-License-Identifier: Apache-2.0 */
/* User-mode queues. Each belongs to one hart from its activation to its end, so that nothing of them needs a lock: to
 * the one that CP_QUEUE_HART names then. */
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
    uint64_t next;          /* packet to look at */
    unsigned in_flight;     /* kernels launched and not finished */
    uint64_t stalled_since; /* the packet at `next` waits for a word, ns; 0: it does not */
};

#endif
