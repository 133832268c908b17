/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of what verbs do, between two nodes. Both call each; the one that is `active` posts, and both look at every
 * byte of their memory. \returns whether all was as it should be */
#ifndef FABRICVP_PROGRAMS_RDMA_CHECK_H
#define FABRICVP_PROGRAMS_RDMA_CHECK_H

#include "drivers/bootstrap/bootstrap.h"
#include "lib/pattern.h"

/* A channel's memory: what is sent, what others write to, and a copy of what has to be there. */
enum {
    AREA = 192 << 10,
    OUT = 0,
    IN = 256 << 10,
    EXPECTED = 512 << 10,
    CHANNEL_BYTES = EXPECTED + AREA,
    UNTOUCHED = 0xa5
};

struct check {
    struct channel* channel;
    bool active;
    uint64_t seed; /* of this check, the same on both nodes */
    bool ok;
};

static inline uint64_t seed_of(const struct check* c, bool of_active) { return 2 * c->seed + of_active; }

/* Patterns of this node in OUT, UNTOUCHED in IN and EXPECTED. */
void check_prepare(struct check* c);
/* `bytes` of what the other node has at OUT + from are expected at IN + to; or of what this one has. */
void check_expect(struct check* c, uint64_t to, uint64_t from, uint64_t bytes, bool of_active);
/* IN is what is expected. */
void check_memory(struct check* c, const char* what);
/* Says what is wrong, unless `right`. */
void check_that(struct check* c, bool ok, const char* what, uint64_t seen);
void check_barrier(struct check* c);

/* Each in turn with either node as the active one. `count` of them run; \returns how many were wrong */
struct check_case {
    const char* name;
    void (*run)(struct check* c);
};
unsigned check_all(struct channel* channel, const char* kind, const struct check_case* cases, unsigned count);
/* A line on the console. */
void check_print(const char* kind, const char* name, bool ok);

unsigned check_connections(struct bootstrap* bootstrap, unsigned with);
unsigned check_datagrams(struct bootstrap* bootstrap, unsigned with);
unsigned check_queues(struct bootstrap* bootstrap, unsigned with);
unsigned check_states(struct bootstrap* bootstrap, unsigned with);
unsigned check_parallel(struct bootstrap* bootstrap, unsigned with);
unsigned check_errors(struct bootstrap* bootstrap, unsigned with);

#endif
