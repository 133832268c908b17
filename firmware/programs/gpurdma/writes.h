/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that lanes (or the hart, by the same code) write to another node, or read from it. */
#ifndef FABRICVP_PROGRAMS_GPURDMA_WRITES_H
#define FABRICVP_PROGRAMS_GPURDMA_WRITES_H

#include "drivers/gpu_rdma/endpoint.h"
#include "gpu/kernels/rdma.h"

struct writes {
    struct bootstrap* bootstrap;
    struct gpu_node* node;
    struct gpu_queue_handle* queue; /* for kernels */
    unsigned with;
    uint64_t groups, poster_groups; /* work-groups; poster groups of each */
    uint64_t lanes, messages;       /* of a poster group */
    uint64_t size, batch, signal_every, window, runs;
    uint64_t flags; /* enum rdma_flag */
    unsigned fence; /* of lanes: RDMA_FENCES of gpu/verbs/arch.h */
    bool hart;      /* the hart posts */
    bool library;   /* … through the verbs library */
    bool revoked;   /* before the last run the far side takes its region back: the poster has to get an error */
    bool queues_in_gpu, cqs_in_gpu, records_in_gpu, payload_in_gpu, target_in_gpu;
};

/* Refuses what cannot be. */
void writes_check(const struct writes* w);
/* Node `with` does the same; the one with the lower index writes and prints. \returns whether all was as it should be
 */
bool writes_run(const struct writes* w);

#endif
