/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that were handed to the dispatcher and have not been finished. */
#ifndef FABRICVP_CP_LAUNCH_H
#define FABRICVP_CP_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "cp/queue.h"

enum { LAUNCHES = 8, MAX_HARTS = 16 };

struct launch {
    bool used, notify; /* the host, when it has ended */
    uint32_t cookie;
    uint64_t signal, start_ns, packet, image;
    struct queue* queue;
};
extern struct launch launches[MAX_HARTS][LAUNCHES];

/* A launch names itself to the hardware by a cookie. */
static inline uint32_t make_cookie(unsigned hart, unsigned slot) { return hart << 8 | slot; }
static inline struct launch* launch_of(uint32_t cookie) {
    return &launches[cookie >> 8 & (MAX_HARTS - 1)][cookie & (LAUNCHES - 1)];
}

/* A free one of this hart, NULL if there is none. */
static inline struct launch* launch_free(unsigned hart) {
    for (unsigned slot = 0; slot < LAUNCHES; ++slot)
        if (!launches[hart][slot].used) {
            launches[hart][slot].cookie = make_cookie(hart, slot);
            return &launches[hart][slot];
        }
    return 0;
}

static inline bool launch_any(unsigned hart) {
    for (unsigned slot = 0; slot < LAUNCHES; ++slot)
        if (launches[hart][slot].used) return true;
    return false;
}

#endif
