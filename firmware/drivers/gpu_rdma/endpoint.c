/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/gpu_rdma/endpoint.h"

#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"

enum {
    RETRY_FOREVER = 7,
    RNR_TIMER = 3 /* 30 µs */,
    LOG_READS = 2,
    FIRST_PSN = 0xfffff0,
    QPNS_PER_MESSAGE = BOOTSTRAP_MESSAGE_BYTES / 4,
    INLINE_BYTES = 12
};

static void* zeroed(uint64_t bytes) {
    void* at = heap_allocate(bytes);
    if (!at) panic("endpoint: no memory for %lu bytes", bytes);
    return memset(at, 0, bytes);
}

static struct verbs_qp_shape shape_of(const struct endpoint* e, unsigned index) {
    return (struct verbs_qp_shape){.type = HCA_QP_RC,
                                   .send_cq = &e->cq[index],
                                   .receive_cq = e->shape.inbox ? e->shape.inbox : &e->cq[index],
                                   .log_sq_size = e->shape.log_sq_size,
                                   .log_rq_size = e->shape.log_rq_size,
                                   .max_send_sge = 1,
                                   .max_receive_sge = 1,
                                   .inline_bytes = INLINE_BYTES};
}

/* A page of doorbells with its page of records. */
static struct rdma_buffer open_page(struct endpoint* e, struct verbs_uar* uar, bool in_gpu) {
    const struct rdma_buffer records = rdma_buffer_allocate(e->node, HCA_PAGE, in_gpu);
    if (!verbs_open_uar(uar, &e->bootstrap->hca, &records.memory)) panic("endpoint: no page of doorbells");
    return records;
}

static void make_queues(struct endpoint* e) {
    const struct endpoint_shape* s = &e->shape;
    struct rdma_buffer records = {0}, cq_records = {0};
    struct rdma_qp* rdma_qps = e->rdma_qps = zeroed(s->qps * sizeof *rdma_qps);
    struct rdma_cq* cqs = e->cqs = zeroed(s->qps * sizeof *cqs);
    gpu_address doorbells = 0;
    for (unsigned i = 0; i < s->qps; ++i) {
        struct endpoint_pages* pages = &e->pages[i / ENDPOINT_QPS_PER_PAGE];
        if (i % ENDPOINT_QPS_PER_PAGE == 0) {
            records = open_page(e, &pages->qps, s->records_in_gpu);
            cq_records = open_page(e, &pages->cqs, s->cqs_in_gpu);
            doorbells = s->lanes ? rdma_buffer_map_doorbells(e->node, &pages->qps) : pages->qps.doorbells;
        }
        const struct verbs_qp_shape shape = shape_of(e, i);
        const struct rdma_buffer queue = rdma_buffer_allocate(e->node, verbs_qp_bytes(&shape), s->queues_in_gpu),
                                 completions = rdma_buffer_allocate(e->node, verbs_cq_bytes(s->log_cq), s->cqs_in_gpu);
        struct verbs_qp* q = &e->qp[i];
        if (!verbs_create_cq(&e->cq[i], &e->bootstrap->pd, s->log_cq,
                             &(struct verbs_object_memory){&completions.memory, &pages->cqs}) ||
            !verbs_create_qp(q, &e->bootstrap->pd, &shape, &(struct verbs_object_memory){&queue.memory, &pages->qps}))
            panic("endpoint: no queue pair %u, status 0x%x", i, e->bootstrap->hca.status);
        const uint64_t ring = endpoint_address(e, &queue), record = endpoint_address(e, &records);
        rdma_qps[i] = (struct rdma_qp){.send_queue = ring + q->send_queue.start,
                                       .send_doorbell_record = record + 8 * q->send_queue.record,
                                       .receive_queue = ring,
                                       .receive_doorbell_record = record + 8 * q->receive_queue.record,
                                       .doorbell = doorbells + HCA_UAR_SEND,
                                       .start = q->send_queue.start,
                                       .number = q->number,
                                       .log_sq_size = (uint8_t)q->send_queue.log_size,
                                       .log_sq_stride = (uint8_t)q->send_queue.log_stride,
                                       .log_rq_size = (uint8_t)q->receive_queue.log_size,
                                       .log_rq_stride = (uint8_t)q->receive_queue.log_stride,
                                       .cq = i};
        cqs[i] = (struct rdma_cq){endpoint_address(e, &completions),
                                  endpoint_address(e, &cq_records) + 8 * e->cq[i].consumer_record, e->cq[i].number,
                                  s->log_cq};
    }
    e->descriptors = rdma_buffer_allocate(e->node, s->qps * (sizeof *rdma_qps + sizeof *cqs), s->lanes);
    rdma_buffer_write(e->node, &e->descriptors, 0, rdma_qps, s->qps * sizeof *rdma_qps);
    rdma_buffer_write(e->node, &e->descriptors, s->qps * sizeof *rdma_qps, cqs, s->qps * sizeof *cqs);
}

static void exchange(struct endpoint* e, const void* local, void* remote, size_t bytes) {
    if (e->with == e->bootstrap->comm.rank)
        memcpy(remote, local, bytes);
    else
        bootstrap_exchange(e->bootstrap, e->with, local, remote, bytes);
}

static void connect(struct endpoint* e) {
    struct bootstrap* p = e->bootstrap;
    const struct endpoint_remote local = {e->payload.lanes, e->notifications.lanes, e->mr.key, e->notifications_mr.key};
    exchange(e, &local, &e->remote, sizeof local);
    for (unsigned first = 0; first < e->shape.qps; first += QPNS_PER_MESSAGE) {
        uint32_t numbers[QPNS_PER_MESSAGE] = {0}, others[QPNS_PER_MESSAGE];
        const unsigned count = e->shape.qps - first < QPNS_PER_MESSAGE ? e->shape.qps - first : QPNS_PER_MESSAGE;
        for (unsigned i = 0; i < count; ++i) numbers[i] = e->qp[first + i].number;
        exchange(e, numbers, others, sizeof numbers);
        for (unsigned i = 0; i < count; ++i) {
            const struct verbs_qp_attributes a = {
                .rights = VERBS_ALL_RIGHTS,
                .log_mtu = p->log_mtu,
                .remote_qpn = others[i],
                .send_psn = FIRST_PSN,
                .receive_psn = FIRST_PSN,
                .remote_lid = (uint16_t)(e->with + 1),
                .log_reads = LOG_READS,
                .ack_timeout = e->shape.ack_timeout ? e->shape.ack_timeout : ENDPOINT_ACK_TIMEOUT,
                .retries = ENDPOINT_RETRIES,
                .rnr_retries = RETRY_FOREVER,
                .rnr_timer = RNR_TIMER};
            if (!verbs_connect(&e->qp[first + i], &a))
                panic("endpoint: queue pair %u cannot be connected, status 0x%x", first + i, p->hca.status);
        }
    }
    if (e->with != p->comm.rank) bootstrap_barrier_with(p, e->with);
}

void endpoint_open(struct endpoint* e, struct bootstrap* bootstrap, struct gpu_node* node, unsigned with,
                   const struct endpoint_shape* shape) {
    *e = (struct endpoint){.bootstrap = bootstrap, .node = node, .with = with, .shape = *shape};
    if (!shape->qps || shape->qps > ENDPOINT_MAX_QPS) panic("endpoint: 1 to %u queue pairs", ENDPOINT_MAX_QPS);
    e->cq = zeroed(shape->qps * sizeof *e->cq);
    e->qp = zeroed(shape->qps * sizeof *e->qp);
    make_queues(e);
    e->payload = rdma_buffer_allocate(node, shape->payload, shape->payload_in_gpu);
    e->notifications = rdma_buffer_allocate(node, PGAS_NOTIFICATION_BYTES, shape->notifications_in_gpu);
    if (!rdma_buffer_register(&e->mr, &bootstrap->pd, &e->payload, VERBS_ALL_RIGHTS) ||
        !rdma_buffer_register(&e->notifications_mr, &bootstrap->pd, &e->notifications, VERBS_ALL_RIGHTS))
        panic("endpoint: memory cannot be registered, status 0x%x", bootstrap->hca.status);
    connect(e);
}

uint64_t endpoint_rdma_qps(const struct endpoint* e) { return endpoint_address(e, &e->descriptors); }
uint64_t endpoint_rdma_cqs(const struct endpoint* e) {
    return endpoint_address(e, &e->descriptors) + e->shape.qps * sizeof(struct rdma_qp);
}

struct pgas_link endpoint_link(const struct endpoint* e, unsigned index) {
    return (struct pgas_link){
        .qp = e->rdma_qps[index],
        .cq = e->cqs[index],
        .data = {endpoint_address(e, &e->payload), e->payload.lanes, e->remote.address, e->mr.key, e->remote.rkey},
        .notifications = {endpoint_address(e, &e->notifications), e->notifications.lanes, e->remote.notifications,
                          e->notifications_mr.key, e->remote.notifications_rkey}};
}
