/* SPDX-License-Identifier: Apache-2.0 */
#include "host/gpurdma/endpoint.h"

#include "host/console.h"
#include "host/heap.h"
#include "host/machine.h"

enum {
    RETRIES = 7,
    FOR_EVER = 7,
    RNR_TIMER = 3 /* 30 µs */,
    LOG_READS = 2,
    FIRST_PSN = 0xfffff0,
    NUMBERS_A_TIME = TOLD_BYTES / 4,
    INLINE_BYTES = 12
};

static void* zeroed(uint64_t bytes) {
    void* at = heap_allocate(bytes);
    if (!at) panic("endpoint: no memory for %lu bytes", bytes);
    return memset(at, 0, bytes);
}

static struct verbs_qp_shape shape_of(const struct endpoint* e, unsigned pair) {
    return (struct verbs_qp_shape){.type = HCA_QP_RC,
                                   .send_cq = &e->cq[pair],
                                   .receive_cq = e->shape.inbox ? e->shape.inbox : &e->cq[pair],
                                   .log_sends = e->shape.log_sends,
                                   .log_receives = e->shape.log_receives,
                                   .send_elements = 1,
                                   .receive_elements = 1,
                                   .inline_bytes = INLINE_BYTES};
}

/* A page of doorbells with its page of records. */
static struct place open_page(struct endpoint* e, struct verbs_uar* uar, bool in_gpu) {
    const struct place records = place_take(e->node, HCA_PAGE, in_gpu);
    if (!verbs_open_uar(uar, &e->party->hca, &records.memory)) panic("endpoint: no page of doorbells");
    return records;
}

static void make_queues(struct endpoint* e) {
    const struct endpoint_shape* s = &e->shape;
    struct place records = {0}, cq_records = {0};
    struct rdma_pair* pairs = e->pairs = zeroed(s->pairs * sizeof *pairs);
    struct rdma_cq* cqs = e->cqs = zeroed(s->pairs * sizeof *cqs);
    gpu_address doorbells = 0;
    for (unsigned i = 0; i < s->pairs; ++i) {
        struct endpoint_pages* pages = &e->pages[i / ENDPOINT_PAIRS_A_PAGE];
        if (i % ENDPOINT_PAIRS_A_PAGE == 0) {
            records = open_page(e, &pages->pairs, s->records_in_gpu);
            cq_records = open_page(e, &pages->cqs, s->cqs_in_gpu);
            doorbells = s->lanes ? place_doorbells(e->node, &pages->pairs) : pages->pairs.doorbells;
        }
        const struct verbs_qp_shape shape = shape_of(e, i);
        const struct place queue = place_take(e->node, verbs_qp_bytes(&shape), s->queues_in_gpu),
                           completions = place_take(e->node, verbs_cq_bytes(s->log_cq), s->cqs_in_gpu);
        struct verbs_qp* q = &e->qp[i];
        if (!verbs_create_cq(&e->cq[i], &e->party->pd, s->log_cq,
                             &(struct verbs_place){&completions.memory, &pages->cqs}) ||
            !verbs_create_qp(q, &e->party->pd, &shape, &(struct verbs_place){&queue.memory, &pages->pairs}))
            panic("endpoint: no queue pair %u, status 0x%x", i, e->party->hca.status);
        const uint64_t ring = endpoint_address(e, &queue), record = endpoint_address(e, &records);
        pairs[i] = (struct rdma_pair){.sends = ring + q->sends.start,
                                      .send_record = record + 8 * q->sends.record,
                                      .receives = ring,
                                      .receive_record = record + 8 * q->receives.record,
                                      .doorbell = doorbells + HCA_UAR_SEND,
                                      .start = q->sends.start,
                                      .number = q->number,
                                      .log_sends = (uint8_t)q->sends.log_size,
                                      .log_stride = (uint8_t)q->sends.log_stride,
                                      .log_receives = (uint8_t)q->receives.log_size,
                                      .log_receive_stride = (uint8_t)q->receives.log_stride,
                                      .cq = i};
        cqs[i] = (struct rdma_cq){endpoint_address(e, &completions),
                                  endpoint_address(e, &cq_records) + 8 * e->cq[i].consumer_record, e->cq[i].number,
                                  s->log_cq};
    }
    e->described = place_take(e->node, s->pairs * (sizeof *pairs + sizeof *cqs), s->lanes);
    place_write(e->node, &e->described, 0, pairs, s->pairs * sizeof *pairs);
    place_write(e->node, &e->described, s->pairs * sizeof *pairs, cqs, s->pairs * sizeof *cqs);
}

static void exchange(struct endpoint* e, const void* mine, void* theirs, size_t bytes) {
    if (e->with == e->party->index)
        memcpy(theirs, mine, bytes);
    else
        party_exchange(e->party, e->with, mine, theirs, bytes);
}

static void connect(struct endpoint* e) {
    struct party* p = e->party;
    const struct endpoint_remote mine = {e->payload.lanes, e->board.lanes, e->mr.key, e->board_mr.key};
    exchange(e, &mine, &e->remote, sizeof mine);
    for (unsigned first = 0; first < e->shape.pairs; first += NUMBERS_A_TIME) {
        uint32_t numbers[NUMBERS_A_TIME] = {0}, others[NUMBERS_A_TIME];
        const unsigned count = e->shape.pairs - first < NUMBERS_A_TIME ? e->shape.pairs - first : NUMBERS_A_TIME;
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
                .retries = RETRIES,
                .rnr_retries = FOR_EVER,
                .rnr_timer = RNR_TIMER};
            if (!verbs_connect(&e->qp[first + i], &a))
                panic("endpoint: queue pair %u cannot be connected, status 0x%x", first + i, p->hca.status);
        }
    }
    if (e->with != p->index) party_meet(p, e->with);
}

void endpoint_open(struct endpoint* e, struct party* party, struct gpu_node* node, unsigned with,
                   const struct endpoint_shape* shape) {
    *e = (struct endpoint){.party = party, .node = node, .with = with, .shape = *shape};
    if (!shape->pairs || shape->pairs > ENDPOINT_MOST_PAIRS)
        panic("endpoint: 1 to %u queue pairs", ENDPOINT_MOST_PAIRS);
    e->cq = zeroed(shape->pairs * sizeof *e->cq);
    e->qp = zeroed(shape->pairs * sizeof *e->qp);
    make_queues(e);
    e->payload = place_take(node, shape->payload, shape->payload_in_gpu);
    e->board = place_take(node, PGAS_BOARD_BYTES, shape->board_in_gpu);
    if (!place_register(&e->mr, &party->pd, &e->payload, VERBS_ALL_RIGHTS) ||
        !place_register(&e->board_mr, &party->pd, &e->board, VERBS_ALL_RIGHTS))
        panic("endpoint: memory cannot be registered, status 0x%x", party->hca.status);
    connect(e);
}

uint64_t endpoint_pairs(const struct endpoint* e) { return endpoint_address(e, &e->described); }
uint64_t endpoint_cqs(const struct endpoint* e) {
    return endpoint_address(e, &e->described) + e->shape.pairs * sizeof(struct rdma_pair);
}

struct pgas_link endpoint_link(const struct endpoint* e, unsigned pair) {
    return (struct pgas_link){
        .pair = e->pairs[pair],
        .cq = e->cqs[pair],
        .data = {endpoint_address(e, &e->payload), e->payload.lanes, e->remote.address, e->mr.key, e->remote.rkey},
        .board = {endpoint_address(e, &e->board), e->board.lanes, e->remote.board, e->board_mr.key,
                  e->remote.board_rkey}};
}
