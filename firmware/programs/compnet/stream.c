/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/compnet/stream.h"

#include "abi/stream_packet.h"
#include "gpu/verbs/verbs.h"
#include "lib/console.h"
#include "lib/machine.h"
#include "lib/timer.h"

static uint64_t head(unsigned operation, uint32_t rest) { return (uint64_t)operation << 16 | (uint64_t)rest << 32; }

/* \param signalled whether stream_synchronize() can wait for it */
static uint64_t submit(struct stream* t, const uint64_t words[7], bool signalled) {
    uint64_t packet[8] = {0};
    memcpy(packet, words, 7 * sizeof *packet);
    packet[7] = signalled ? 0 : GPU_UNSIGNALLED;
    packet[0] |= AQL_HEADER_BARRIER;
    return gpu_submit(&t->queue, packet, AQL_TYPE_VENDOR);
}

void stream_begin(struct stream* t, struct backend* s, uint64_t timeout) {
    *t = (struct stream){.backend = s, .timeout = timeout};
    gpu_create_queue(&t->queue, s->node, 0, STREAM_PACKETS, GPU_SIGNALS_ON_DEVICE, 1);
    for (unsigned i = 0; i < s->bootstrap->comm.size; ++i) {
        struct stream_peer* w = &t->to[i];
        if (!s->peer[i].qp) continue;
        gpu_read(s->node, &w->qp, s->peer[i].qp, sizeof w->qp);
        gpu_read(s->node, &w->cq, s->peer[i].cq, sizeof w->cq);
        gpu_read(s->node, &w->record, w->qp.send_doorbell_record, sizeof w->record);
        w->record &= ~UINT64_C(0xffffffff);
        w->qp.send_queue = gpu_host_address(s->node, w->qp.send_queue);
    }
}

/* Of the entries of one doorbell the last alone has a completion, and any that fails. */
static void add(struct stream_peer* w, const struct rdma_work_request* work, const uint64_t* value) {
    const unsigned size =
        value ? rdma_write_inline_wqe(&w->qp, w->written, work, *value, 0) : rdma_write_wqe(&w->qp, w->written, work);
    rdma_link_wqe(&w->qp, w->written, work->opcode, false, size);
    if (w->written == w->announced) w->opcode = work->opcode, w->size = size;
    ++w->written;
}

void stream_put(struct stream* t, unsigned peer, uint64_t local, uint64_t remote, uint32_t bytes) {
    add(&t->to[peer],
        &(struct rdma_work_request){.opcode = HCA_OP_WRITE,
                                    .remote = remote,
                                    .rkey = t->backend->remote[peer].rkey,
                                    .local = local,
                                    .lkey = t->backend->mr.key,
                                    .bytes = bytes},
        NULL);
}

void stream_put_inline(struct stream* t, unsigned peer, uint64_t remote, uint64_t value) {
    add(&t->to[peer],
        &(struct rdma_work_request){
            .opcode = HCA_OP_WRITE, .remote = remote, .rkey = t->backend->remote[peer].rkey, .bytes = 8},
        &value);
}

void stream_ring(struct stream* t, unsigned peer) {
    struct stream_peer* w = &t->to[peer];
    const unsigned count = w->written - w->announced;
    const uint64_t record = w->record | hca_swap32(w->written & 0xffff);
    rdma_wqe(&w->qp, w->written - 1)[HCA_WORD_FLAGS] = hca_flags(true, false, 0);
    rdma_order();
    submit(t,
           (uint64_t[7]){head(AQL_STREAM_WRITE, 2), w->qp.send_doorbell_record, record, w->qp.doorbell,
                         hca_send_doorbell(w->qp.number, count, (uint16_t)w->announced, w->opcode, false, w->size)},
           false);
    w->announced = w->written;
}

void stream_wait_reached(struct stream* t, uint64_t at, uint32_t number) {
    submit(t,
           (uint64_t[7]){head(AQL_STREAM_WAIT, AQL_STREAM_GEQ), at, UINT64_C(0xffffffff) << 32, (uint64_t)number << 32,
                         t->timeout},
           false);
}

void stream_wait_equal(struct stream* t, uint64_t at, uint64_t number) {
    submit(t, (uint64_t[7]){head(AQL_STREAM_WAIT, AQL_STREAM_EQUAL), at, ~UINT64_C(0), number, t->timeout}, false);
}

void stream_wait_completion(struct stream* t, unsigned peer) {
    struct stream_peer* w = &t->to[peer];
    const uint64_t at = w->cq.entries + (uint64_t)(w->consumer & ((1u << w->cq.log_size) - 1)) * HCA_CQE_SIZE;
    submit(t, (uint64_t[7]){head(AQL_STREAM_COMPLETION, ++w->consumer), at, w->cq.record, 0, t->timeout}, false);
}

void stream_clear(struct stream* t, uint64_t at) {
    submit(t, (uint64_t[7]){head(AQL_STREAM_WRITE, 3), at, 0, at + 8, 0, at + 16, 0}, false);
}

uint64_t stream_timestamp(struct stream* t, uint64_t at) {
    return submit(t, (uint64_t[7]){head(AQL_VENDOR_TIMESTAMP, 0), at}, true);
}

uint64_t stream_launch(struct stream* t, struct gpu_kernel kernel, const struct gpu_grid* grid, const void* arguments,
                       uint32_t bytes, uint64_t driver_us) {
    if (driver_us) timer_wait(driver_us);
    return gpu_dispatch(&t->queue, kernel, grid, arguments, bytes);
}

unsigned stream_synchronize(struct stream* t, uint64_t packet) {
    const unsigned fault = gpu_wait(&t->queue, packet);
    struct gpu_fault_record r;
    if (!fault) return NETWORK_DONE;
    if (!gpu_next_fault(t->queue.gpu, &r)) panic("stream: the queue ended with fault %u", fault);
    for (unsigned i = 0; fault == GPU_FAULT_DEPENDENCY && i < t->backend->bootstrap->comm.size; ++i) {
        const struct rdma_cq* cq = &t->to[i].cq;
        if (!t->to[i].qp.number || r.address - cq->entries >= (uint64_t)HCA_CQE_SIZE << cq->log_size) continue;
        uint64_t third;
        gpu_read(t->backend->node, &third, r.address + 16, sizeof third);
        return NETWORK_FAILED | (third & 0xff);
    }
    console_printf("the GPU's queue stopped: %s\n", gpu_fault_name(fault));
    return NETWORK_FAILED;
}
