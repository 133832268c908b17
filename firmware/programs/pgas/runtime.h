/* SPDX-License-Identifier: Apache-2.0 */
/* A partitioned global address space of all nodes: each has a segment, and callers, work-groups of a kernel or the
 * hart, with links of their own to every node. */
#ifndef FABRICVP_PROGRAMS_PGAS_RUNTIME_H
#define FABRICVP_PROGRAMS_PGAS_RUNTIME_H

#include "drivers/gpu_rdma/endpoint.h"
#include "gpu/pgas/active_message.h"
#include "gpu/pgas/workgroup.h"

enum {
    PGAS_MAX_CALLERS = PGAS_NOTIFICATIONS / PGAS_SLOTS,
    PGAS_LOG_SQ_SIZE = 7,
    PGAS_MAX_ITEMS = 1 << PGAS_LOG_SQ_SIZE
};

struct pgas_runtime {
    struct bootstrap* bootstrap;
    struct gpu_node* node;
    struct gpu_queue_handle* queue;
    bool lanes;           /* the callers: lanes, or the hart */
    unsigned callers;     /* of a node; of a hart, one */
    unsigned items;       /* of a work-group */
    unsigned ack_timeout; /* as in endpoint_shape */
    uint64_t timeout_us;  /* of a wait */
    uint64_t revoke_us;   /* not 0: so long after the work has begun, the last node takes its segment from all others */
    /* filled in by pgas_runtime_open() */
    struct rdma_buffer segment, contexts, inbox;
    struct verbs_mr mr;
    struct verbs_cq inbox_cq;
    struct verbs_uar inbox_uar;
    struct endpoint* to;    /* by rank */
    uint64_t cycle_ps_1024; /* picoseconds of 1,024 cycles of a caller */
};

/* All nodes call it. \param bytes of the segment, zeroed; the inbox has its messages behind them. Panics if it cannot
 * be made */
void pgas_runtime_open(struct pgas_runtime* runtime, uint64_t bytes);

/* Memory for callers, zeroed: of the GPU for lanes, of the host for the hart. */
struct rdma_buffer pgas_runtime_allocate(const struct pgas_runtime* runtime, uint64_t bytes);
/* As callers see it. */
static inline uint64_t pgas_runtime_address(const struct pgas_runtime* w, const struct rdma_buffer* p) {
    return w->lanes ? p->lanes : p->memory.at;
}

/* A caller's work: the kernel that was linked in under that name, or what does the same on a hart. */
struct pgas_workload {
    const char* kernel;
    void (*on_hart)(const void* arguments);
    const void* arguments;
    unsigned bytes; /* of these */
};
/* Runs it at this node, and says what went wrong with it. \returns whether all of its callers are well */
bool pgas_runtime_run(struct pgas_runtime* runtime, const struct pgas_workload* work);

/* Prints "# NAME …" with a time that callers have measured: the longest of `count` at `cycles`, `stride` apart. By node
 * 0. */
void pgas_runtime_report(const struct pgas_runtime* runtime, const char* name, const char* phase,
                         const struct rdma_buffer* cycles, unsigned first, unsigned stride, unsigned count);

#endif
