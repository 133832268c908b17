/* SPDX-License-Identifier: Apache-2.0 */
/* Queue pairs for lanes (or harts) that post and poll by themselves, connected to as many of another node, and memory
 * for payload. */
#ifndef FABRICVP_DRIVERS_GPU_RDMA_ENDPOINT_H
#define FABRICVP_DRIVERS_GPU_RDMA_ENDPOINT_H

#include "drivers/bootstrap/bootstrap.h"
#include "drivers/gpu_rdma/rdma_buffer.h"
#include "gpu/pgas/pgas.h"

enum {
    ENDPOINT_MAX_QPS = 1024,
    ENDPOINT_QPS_PER_PAGE = 250 /* two records each */,
    ENDPOINT_ACK_TIMEOUT = 14,
    ENDPOINT_RETRIES = 7
};

struct endpoint_shape {
    unsigned qps;
    unsigned log_sq_size, log_rq_size, log_cq;
    bool lanes; /* the posters: lanes, or a hart */
    bool queues_in_gpu, cqs_in_gpu, records_in_gpu,
        payload_in_gpu;        /* records: of queue pairs; those of completion queues lie with these */
    bool notifications_in_gpu; /* where notifications of the other node arrive */
    uint64_t payload;          /* bytes */
    unsigned ack_timeout;      /* 4.096 µs << this until a request is sent again; 0: ENDPOINT_ACK_TIMEOUT */
    struct verbs_cq* inbox;    /* completions of receives, of this endpoint and others; NULL: in the queues of sends */
};

struct endpoint {
    struct bootstrap* bootstrap;
    struct gpu_node* node;
    unsigned with; /* the other node, or this one: its queue pairs are connected to themselves */
    struct endpoint_shape shape;
    struct endpoint_pages { /* doorbells and records: of queue pairs, of completion queues */
        struct verbs_uar qps, cqs;
    } pages[(ENDPOINT_MAX_QPS + ENDPOINT_QPS_PER_PAGE - 1) / ENDPOINT_QPS_PER_PAGE];
    struct verbs_cq* cq;
    struct verbs_qp* qp;
    struct rdma_buffer payload, descriptors; /* of `described`: the queue pairs, behind them the completion queues */
    struct rdma_qp* rdma_qps;                /* copies of the host's */
    struct rdma_cq* cqs;
    struct verbs_mr mr;
    struct rdma_buffer notifications; /* of PGAS_NOTIFICATION_BYTES */
    struct verbs_mr notifications_mr;
    struct endpoint_remote {
        uint64_t address, notifications; /* of its payload, of its board */
        uint32_t rkey, notifications_rkey;
    } remote;
};

/* Both nodes call it, this one alone for queue pairs that stay here; what is not shown by `shape` is the same on both.
 * Panics if it cannot be made. */
void endpoint_open(struct endpoint* e, struct bootstrap* bootstrap, struct gpu_node* node, unsigned with,
                   const struct endpoint_shape* shape);
/* The queues in the poster's address space. */
uint64_t endpoint_rdma_qps(const struct endpoint* e);
uint64_t endpoint_rdma_cqs(const struct endpoint* e);
/* Link `pair` of a partitioned global address space. */
struct pgas_link endpoint_link(const struct endpoint* e, unsigned index);
/* Address of `place` in the poster's address space. */
static inline uint64_t endpoint_address(const struct endpoint* e, const struct rdma_buffer* buffer) {
    return e->shape.lanes ? buffer->lanes : buffer->memory.at;
}

#endif
