/* SPDX-License-Identifier: Apache-2.0 */
/* The network from inside of a kernel: puts, gets and additions, by any backend: a service that polls the
 * work-group's queue (producer.h), or the work-group itself, which posts to the RDMA adapter (gpu/verbs). One lane of a
 * work-group calls all of this. Where the others have work of their own, it does so in functions that are not inlined
 * (GPU_APART), with `struct network` in the local data share. */
#ifndef FABRICVP_NETWORK_NETWORK_H
#define FABRICVP_NETWORK_NETWORK_H

#include "gpu/verbs/verbs.h"
#include "network/producer.h"

/* Of a work-group that performs its requests itself. */
LDS struct network_progress network_progress[NETWORK_MAX_PEERS];

struct network {
    struct network_access* access;
    bool native;
    struct network_producer producer;
};
/* A request under way. */
struct network_request {
    uint32_t number, peer;
};

GPU_INLINE struct network network_open(struct network_access* access) {
    struct network n = {.access = access, .native = access->backend == NETWORK_GPU_NATIVE};
    if (!n.native) n.producer = network_producer(access);
    for (unsigned i = 0; n.native && i < access->peers; ++i) network_progress[i] = access->progress[i];
    return n;
}
/* To be called at the end of a kernel. The next one counts from `read_index` on, which a service may publish a while
 * after the last status that was waited for. */
GPU_INLINE void network_close(struct network* n) {
    if (!n->native && n->producer.read != n->producer.write) network_drain(&n->producer);
    for (unsigned i = 0; n->native && i < n->access->peers; ++i) n->access->progress[i] = network_progress[i];
}

/* ---- by the work-group itself ---- */

/* Takes what has come of a peer's requests. */
GPU_INLINE void network_collect(const struct rdma_qp* qp, const struct rdma_cq* cq,
                                volatile struct network_progress* p) {
    struct rdma_completion c;
    uint32_t consumer = p->consumer;
    if (!rdma_poll(cq, &consumer, &c)) return;
    p->consumer = consumer;
    p->retired = rdma_retired(qp, p->retired, c.offset);
    if (c.syndrome && !p->failed) p->failed = NETWORK_FAILED | c.syndrome;
}

/* A valid request: looking for what a service would refuse takes lanes as long as a fiftieth of a round trip. */
GPU_INLINE uint32_t network_post_native(const struct network* n, unsigned operation, unsigned peer, uint64_t local,
                                        uint64_t remote, uint32_t bytes, uint64_t data) {
    const struct network_peer* to = &n->access->peer[peer];
    const struct rdma_qp qp = *(const struct rdma_qp*)(uintptr_t)to->qp;
    const struct rdma_cq cq = *(const struct rdma_cq*)(uintptr_t)to->cq;
    volatile struct network_progress* p = &network_progress[peer];
    const struct rdma_work_request work = {.opcode = operation == NETWORK_GET            ? HCA_OP_READ
                                                     : operation == NETWORK_ADD          ? HCA_OP_FETCH_ADD
                                                     : operation == NETWORK_COMPARE_SWAP ? HCA_OP_COMPARE_SWAP
                                                                                         : HCA_OP_WRITE,
                                           .signalled = true,
                                           .remote = remote,
                                           .rkey = to->rkey,
                                           .local = local,
                                           .lkey = to->lkey,
                                           .bytes = bytes,
                                           .swap_add = data};
    while (p->posted - p->retired >= 1u << qp.log_sq_size) network_collect(&qp, &cq, p);
    const uint32_t number = p->posted++;
    const unsigned size = operation == NETWORK_PUT_DATA ? rdma_write_inline_wqe(&qp, number, &work, data, 0)
                                                        : rdma_write_wqe(&qp, number, &work);
    rdma_link_wqe(&qp, number, work.opcode, false, size);
    rdma_ring_doorbell(&qp, number, 1, work.opcode, false, size);
    return number;
}

/* ---- for all ---- */

GPU_INLINE struct network_request network_start(struct network* n, unsigned operation, unsigned peer, uint64_t local,
                                                uint64_t remote, uint32_t bytes, uint64_t data) {
    const uint32_t number = n->native ? network_post_native(n, operation, peer, local, remote, bytes, data)
                                      : network_post(&n->producer, operation, peer, local, remote, bytes, data, 0);
    return (struct network_request){number, peer};
}
/* `bytes` from `local` to the peer's memory; what this lane has stored before goes along. */
GPU_INLINE struct network_request network_put(struct network* n, unsigned peer, uint64_t local, uint64_t remote,
                                              uint32_t bytes) {
    return network_start(n, NETWORK_PUT, peer, local, remote, bytes, 0);
}
/* Up to NETWORK_MAX_INLINE bytes of `value`. */
GPU_INLINE struct network_request network_put_data(struct network* n, unsigned peer, uint64_t value, uint64_t remote,
                                                   uint32_t bytes) {
    return network_start(n, NETWORK_PUT_DATA, peer, 0, remote, bytes, value);
}
GPU_INLINE struct network_request network_get(struct network* n, unsigned peer, uint64_t local, uint64_t remote,
                                              uint32_t bytes) {
    return network_start(n, NETWORK_GET, peer, local, remote, bytes, 0);
}
/* To 8 bytes of the peer's memory; what stood there comes to `local`. */
GPU_INLINE struct network_request network_add(struct network* n, unsigned peer, uint64_t local, uint64_t remote,
                                              uint64_t addend) {
    return network_start(n, NETWORK_ADD, peer, local, remote, 8, addend);
}

/* Waits until a request has ended; of a put: its bytes are in the peer's memory. \returns NETWORK_DONE, or why it, or
 * one before it, failed */
GPU_INLINE uint32_t network_wait(struct network* n, struct network_request r) {
    if (!n->native) return network_wait_entry(&n->producer, r.number);
    const struct network_peer* to = &n->access->peer[r.peer];
    const struct rdma_qp qp = *(const struct rdma_qp*)(uintptr_t)to->qp;
    const struct rdma_cq cq = *(const struct rdma_cq*)(uintptr_t)to->cq;
    volatile struct network_progress* p = &network_progress[r.peer];
    while ((int32_t)(p->retired - r.number) <= 0 && !p->failed) network_collect(&qp, &cq, p);
    rdma_acquire();
    return p->failed;
}

/* Waits until all that was asked for has ended. \returns NETWORK_DONE, or why one of all requests so far failed */
GPU_INLINE uint32_t network_quiet(struct network* n) {
    if (!n->native) return network_drain(&n->producer);
    uint32_t failed = NETWORK_DONE;
    for (unsigned i = 0; i < n->access->peers; ++i) {
        const volatile struct network_progress* p = &network_progress[i];
        const uint32_t status = p->posted ? network_wait(n, (struct network_request){p->posted - 1, i}) : NETWORK_DONE;
        if (status && !failed) failed = status;
    }
    return failed;
}

/* Waits until 8 bytes of this GPU's memory, which a peer writes, have an upper half of `number` or more, with all that
 * was put there before them; `seen` gets them. \returns false after `timeout` nanoseconds */
GPU_INLINE bool network_wait_reached(const void* at, uint32_t number, uint64_t timeout, uint64_t* seen) {
    const uint64_t end = gpu_time_ns() + timeout;
    while ((int32_t)((uint32_t)((*seen = load_scoped_u64(at)) >> 32) - number) < 0)
        if (gpu_time_ns() > end) return false;
    fence_acquire(GPU_SCOPE_SYSTEM);
    return true;
}
/* The same until they are `value`. */
GPU_INLINE bool network_wait_equal(const void* at, uint64_t value, uint64_t timeout) {
    const uint64_t end = gpu_time_ns() + timeout;
    while (load_scoped_u64(at) != value)
        if (gpu_time_ns() > end) return false;
    fence_acquire(GPU_SCOPE_SYSTEM);
    return true;
}

#endif
