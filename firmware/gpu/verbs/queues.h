/* SPDX-License-Identifier: Apache-2.0 */
/* A queue pair and a completion queue, made by a driver, for a poster that writes WQEs and polls CQEs itself:
 * addresses in the poster's space (a lane: its GPU's; a hart: the host's), numbers and sizes. Plain C99. */
#ifndef FABRICVP_GPU_VERBS_QUEUES_H
#define FABRICVP_GPU_VERBS_QUEUES_H

#include <stdint.h>

struct rdma_qp {
    uint64_t send_queue;           /* ring of send entries */
    uint64_t send_doorbell_record; /* doorbell record: how many were posted */
    uint64_t receive_queue;        /* ring of receive entries */
    uint64_t receive_doorbell_record;
    uint64_t doorbell; /* the 8 bytes that announce sends */
    uint32_t number;
    uint32_t start; /* offset of the send ring in the queue pair's buffer */
    uint8_t log_sq_size, log_sq_stride, log_rq_size, log_rq_stride; /* entries, bytes from one to the next */
    uint32_t cq; /* index of its completion queue among those that come along */
};

struct rdma_cq {
    uint64_t entries;
    uint64_t record; /* doorbell record: how many were taken */
    uint32_t number, log_size;
};

#endif
