/* SPDX-License-Identifier: Apache-2.0 */
/* A lane that posts one request, rightly or not: what it is told and what it tells. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_RDMA_MISUSE_H
#define FABRICVP_GPU_KERNELS_RDMA_MISUSE_H

#include "arguments.h"
#include "gpu/verbs/queues.h"

enum { RDMA_NO_COMPLETION = 0x100 }; /* no completion came */

struct rdma_misuse_result {
    uint32_t syndrome; /* of its completion, or RDMA_NO_COMPLETION */
    uint32_t polls;
};

struct rdma_misuse_arguments {
    struct rdma_qp qp; /* some of it not what it should be */
    struct rdma_cq cq;
    POINTER(struct rdma_misuse_result) result;
    uint64_t local, remote;
    uint32_t lkey, rkey;
    uint32_t head, consumer;   /* counters of the two queues */
    uint32_t doorbell_entries; /* entries that the doorbell tells of */
    uint32_t polls;            /* looks for a completion before it gives up */
};

#endif
