/* SPDX-License-Identifier: Apache-2.0 */
/* A partitioned global address space of all nodes: each has a segment, and callers, work-groups of a kernel or the
 * hart, with links of their own to everybody. */
#ifndef FABRICVP_HOST_PGAS_WORLD_H
#define FABRICVP_HOST_PGAS_WORLD_H

#include "gpu/pgas/passive.h"
#include "gpu/pgas/team.h"
#include "host/gpurdma/endpoint.h"

enum {
    WORLD_MOST_CALLERS = PGAS_NOTIFICATIONS / PGAS_SLOTS,
    WORLD_LOG_SENDS = 7,
    WORLD_MOST_ITEMS = 1 << WORLD_LOG_SENDS
};

struct world {
    struct party* party;
    struct gpu_node* node;
    struct gpu_queue_handle* queue;
    bool lanes;           /* who calls: lanes, or the hart */
    unsigned callers;     /* of a node; of a hart, one */
    unsigned items;       /* of a work-group */
    unsigned ack_timeout; /* as in endpoint_shape */
    uint64_t patience_us; /* of a wait */
    uint64_t revoke_us;   /* not 0: so long after the work has begun, the last node takes its segment from all others */
    /* filled in by world_open() */
    struct place segment, groups, inbox;
    struct verbs_mr mr;
    struct verbs_cq inbox_cq;
    struct verbs_uar inbox_uar;
    struct endpoint* to;    /* by rank */
    uint64_t cycle_ps_1024; /* picoseconds of 1,024 cycles of a caller */
};

/* All nodes call it. \param bytes of the segment, zeroed; the inbox has its letters behind them. Panics if it cannot be
 * made */
void world_open(struct world* world, uint64_t bytes);

/* Memory for callers, zeroed: of the GPU for lanes, of the host for the hart. */
struct place world_take(const struct world* world, uint64_t bytes);
/* As callers see it. */
static inline uint64_t world_at(const struct world* w, const struct place* p) {
    return w->lanes ? p->lanes : p->memory.at;
}

/* A caller's work: the kernel that was linked in under that name, or what does the same on a hart. */
struct world_work {
    const char* kernel;
    void (*on_hart)(const void* arguments);
    const void* arguments;
    unsigned bytes; /* of these */
};
/* Runs it at this node, and says what went wrong with it. \returns whether all of its callers are well */
bool world_run(struct world* world, const struct world_work* work);

/* Prints "# NAME …" with a time that callers have measured: the longest of `count` at `cycles`, `stride` apart. By node
 * 0. */
void world_report(const struct world* world, const char* name, const char* what, const struct place* cycles,
                  unsigned first, unsigned stride, unsigned count);

#endif
