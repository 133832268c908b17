/* SPDX-License-Identifier: Apache-2.0 */
/* A master, the hart of one node, sends batches to a worker at another one and waits for the results of each before the
 * next. The worker is that node's hart, which starts a kernel for each batch if there is something to compute, or one
 * kernel that does all by itself. */
#ifndef FABRICVP_PROGRAMS_GPURDMA_SERVE_H
#define FABRICVP_PROGRAMS_GPURDMA_SERVE_H

#include "drivers/gpu_rdma/endpoint.h"
#include "gpu/kernels/rdma_serve.h"

enum serve_worker { SERVE_NONE, SERVE_BY_HART, SERVE_BY_KERNEL };
extern const char* const serve_worker_names[]; /* then NULL */

struct serve {
    struct bootstrap* bootstrap;
    struct gpu_node* node;
    struct gpu_queue_handle* queue;
    unsigned with;
    uint64_t worker;        /* enum serve_worker */
    uint64_t groups, items; /* work-groups, each with a queue pair; work-items of each */
    uint64_t bytes;         /* of a batch; 0: notifications alone */
    uint64_t rounds;        /* that are measured */
    uint64_t replies;       /* messages in which results come back: 1 or as many as groups */
    bool own;               /* a notification for each work-group with its part of the batch, not one for all */
    bool multiply;          /* vectors by a matrix; otherwise what came is sent back */
    bool staged;            /* the hart sends results from its own memory, where the copy engine brings them */
    uint64_t copy_ns;       /* what a run-time takes for each of these copies, beside the engine */
};

/* Refuses what cannot be. */
void serve_check(const struct serve* s);
/* Both nodes call it. \returns whether all was as it should be */
bool serve_run(const struct serve* s);

#endif
