/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/compnet/host_endpoint.h"

#include "gpu/verbs/verbs.h"
#include "lib/machine.h"
#include "lib/timer.h"

enum { POLLS_PER_CHECK = 1024 };

void host_endpoint_init(struct host_endpoint* t, struct backend* s) {
    *t = (struct host_endpoint){.backend = s};
    for (unsigned i = 0; i < s->bootstrap->comm.size; ++i) {
        if (!s->peer[i].qp) continue;
        t->to[i].qp = *(const struct rdma_qp*)s->peer[i].qp;
        t->to[i].cq = *(const struct rdma_cq*)s->peer[i].cq;
    }
}

static void collect(struct host_endpoint* t, struct host_endpoint_peer* w) {
    struct rdma_completion c;
    if (!rdma_poll(&w->cq, &w->consumer, &c)) return;
    w->retired = rdma_retired(&w->qp, w->retired, c.offset);
    if (c.syndrome && !t->failed) t->failed = c.syndrome;
}

static struct host_endpoint_peer* reserve_wqe(struct host_endpoint* t, unsigned peer) {
    struct host_endpoint_peer* w = &t->to[peer];
    while (w->posted - w->retired >= 1u << w->qp.log_sq_size) collect(t, w);
    return w;
}

void host_endpoint_put(struct host_endpoint* t, unsigned peer, uint64_t from, uint64_t to, uint32_t bytes) {
    struct host_endpoint_peer* w = reserve_wqe(t, peer);
    const struct backend* s = t->backend;
    const struct rdma_work_request work = {.opcode = HCA_OP_WRITE,
                                           .signalled = true,
                                           .remote = s->remote[peer].payload + to,
                                           .rkey = s->remote[peer].rkey,
                                           .local = s->payload.lanes + from,
                                           .lkey = s->mr.key,
                                           .bytes = bytes};
    rdma_post(&w->qp, w->posted++, &work);
}

void host_endpoint_notify(struct host_endpoint* t, unsigned peer, uint64_t offset, uint64_t value) {
    struct host_endpoint_peer* w = reserve_wqe(t, peer);
    const struct rdma_work_request work = {.opcode = HCA_OP_WRITE,
                                           .signalled = true,
                                           .remote = t->backend->remote[peer].control + offset,
                                           .rkey = t->backend->remote[peer].control_rkey,
                                           .bytes = 8};
    const unsigned size = rdma_write_inline_wqe(&w->qp, w->posted, &work, value, 0);
    rdma_link_wqe(&w->qp, w->posted, work.opcode, false, size);
    rdma_ring_doorbell(&w->qp, w->posted++, 1, work.opcode, false, size);
}

uint64_t host_endpoint_wait(struct host_endpoint* t, uint64_t offset, uint32_t number) {
    const volatile uint64_t* at = (const volatile uint64_t*)(t->backend->control.memory.at + offset);
    const uint64_t begin = timer_now();
    uint64_t seen;
    for (unsigned polls = 1; (int32_t)((uint32_t)((seen = *at) >> 32) - number) < 0; ++polls)
        if (polls % POLLS_PER_CHECK == 0 && timer_microseconds(timer_now() - begin) > BACKEND_TIMEOUT_NS / 1000)
            panic("host endpoint: no notification, in iteration %u", number);
    rdma_acquire();
    return seen;
}

void host_endpoint_flush(struct host_endpoint* t) {
    for (unsigned i = 0; i < t->backend->bootstrap->comm.size; ++i)
        while (t->to[i].posted != t->to[i].retired && !t->failed) collect(t, &t->to[i]);
}

bool host_endpoint_finish(struct host_endpoint* t) {
    host_endpoint_flush(t);
    return !t->failed;
}
