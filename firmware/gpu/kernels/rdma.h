/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that kernels post themselves: what they are told and what they tell. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_RDMA_H
#define FABRICVP_GPU_KERNELS_RDMA_H

#include "arguments.h"
#include "gpu/verbs/queues.h"

/* Of a poster group, which has a queue pair. The first two are kept from one kernel to the next. */
struct rdma_poster_group {
    uint32_t head, consumer;            /* counters: of sends, of completions */
    uint32_t completed;                 /* messages of this kernel whose end is known */
    uint32_t syndrome;                  /* of the first completion that tells an error, enum hca_syndrome; 0: none */
    uint32_t failed;                    /* entry that it was about, counted from the kernel's first */
    uint32_t polls;                     /* looks at the completion queue */
    uint64_t cycles;                    /* from the first entry to the last completion */
    uint64_t writing, ringing, polling; /* of them, with RDMA_TIMED */
    uint64_t reserved;
};

enum { RDMA_MAX_POSTER_GROUPS = 64 }; /* of a work-group, where a poster group has more than one lane */

enum rdma_flag {
    RDMA_REUSE = 1,       /* entries are written in full once, before the clock starts */
    RDMA_INLINE_DATA = 2, /* inline: the payload stands in the entry; up to RDMA_MAX_INLINE bytes */
    RDMA_READS = 4,       /* instead of writes */
    RDMA_TIMED = 8        /* looks at the clock between steps */
};

struct rdma_writes_arguments {
    POINTER(const struct rdma_qp) qps; /* one a poster group */
    POINTER(const struct rdma_cq) cqs; /* likewise */
    POINTER(struct rdma_poster_group) poster_groups;
    uint64_t local,
        remote; /* where the first poster group's messages begin; message m of group g is slot g * slots + m % slots */
    uint32_t lkey, rkey;
    uint32_t bytes, pitch; /* of a message; from slot to slot */
    uint32_t slots;        /* a power of two */
    uint32_t messages;     /* of a poster group, a multiple of `signal` */
    uint32_t lanes;  /* of a poster group; work-items of a work-group are assigned to its poster groups in order */
    uint32_t batch;  /* entries a doorbell */
    uint32_t signal; /* of them for one completion; a power of two */
    uint32_t window; /* entries under way at most */
    uint32_t flags;  /* enum rdma_flag */
    uint32_t reserved;
};

#endif
