/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/verbs/mads.h"

#include "drivers/verbs/internal.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/timer.h"

enum { LOG_SLOTS = 5, SLOTS = 1 << LOG_SLOTS, SLOT = 512, LOG_MTU = 8, TRIES = 4, TIMEOUT_US = 100 };

static uint8_t* slot_at(struct verbs_mads* m, uint64_t slot) { return m->memory + slot * SLOT; }

static bool post_slot(struct verbs_mads* m, uint64_t slot) {
    const struct verbs_sge e = {(uintptr_t)slot_at(m, slot), m->mr.key, SLOT};
    const struct verbs_receive_request r = {slot, &e, 1};
    return verbs_post_receive(&m->qp, &r, 1) == 1;
}

bool verbs_open_mads(struct verbs_mads* m, const struct verbs_pd* pd, bool queue_pair_1) {
    const struct verbs_qp_shape shape = {.type = HCA_QP_MLX,
                                         .special = queue_pair_1 ? VERBS_GSI : VERBS_SMI,
                                         .send_cq = &m->cq,
                                         .receive_cq = &m->cq,
                                         .log_sq_size = LOG_SLOTS,
                                         .log_rq_size = LOG_SLOTS,
                                         .max_send_sge = 2,
                                         .max_receive_sge = 1,
                                         .signal_all = true};
    const struct verbs_qp_attributes attributes = {.log_mtu = LOG_MTU,
                                                   .qkey = queue_pair_1 ? (uint32_t)IB_GSI_QKEY : 0};
    *m = (struct verbs_mads){.pd = pd, .performance = queue_pair_1, .memory = verbs_pages(2 * SLOTS * SLOT)};
    if (!verbs_register_host(&m->mr, pd, m->memory, 2 * SLOTS * SLOT, VERBS_LOCAL_READ | VERBS_LOCAL_WRITE))
        goto no_region;
    if (!verbs_create_cq(&m->cq, pd, LOG_SLOTS + 1, NULL)) goto no_cq;
    if (!verbs_create_qp(&m->qp, pd, &shape, NULL)) goto no_qp;
    bool good = verbs_modify(&m->qp, HCA_QP_INIT, &attributes);
    for (unsigned i = 0; i < SLOTS; ++i) good = good && post_slot(m, i);
    if (good && verbs_modify(&m->qp, HCA_QP_RTR, &attributes) && verbs_modify(&m->qp, HCA_QP_RTS, &attributes))
        return true;
    verbs_destroy_qp(&m->qp);
no_qp:
    verbs_destroy_cq(&m->cq);
no_cq:
    verbs_unregister(&m->mr);
no_region:
    heap_free(m->memory);
    return false;
}

void verbs_close_mads(struct verbs_mads* m) {
    verbs_destroy_qp(&m->qp);
    verbs_destroy_cq(&m->cq);
    verbs_unregister(&m->mr);
    heap_free(m->memory);
}

/* The headers are ours, but for the source LID and the ICRC. */
static void write_headers(struct verbs_mads* m, uint8_t* h, uint16_t lid, uint32_t qpn) {
    memset(h, 0, IB_DATAGRAM_HEADERS);
    hca_set(h, IB_LRH_VL, m->performance ? 0 : IB_MANAGEMENT_VL);
    hca_set(h, IB_LRH_NEXT, IB_NEXT_BTH);
    hca_set(h, IB_LRH_DESTINATION, lid);
    hca_set(h, IB_LRH_LENGTH, (IB_DATAGRAM_HEADERS + HCA_MAD_SIZE + IB_ICRC_SIZE) / 4);
    hca_set(h, IB_LRH_SOURCE, lid == IB_PERMISSIVE_LID ? IB_PERMISSIVE_LID : 0);
    uint8_t* bth = h + IB_LRH_SIZE;
    hca_set(bth, IB_BTH_OPCODE, IB_UD_SEND_ONLY);
    hca_set(bth, IB_BTH_MIGRATED, 1);
    hca_set(bth, IB_BTH_PKEY, IB_DEFAULT_PKEY);
    hca_set(bth, IB_BTH_QP, qpn);
    hca_set(bth, IB_BTH_PSN, m->psn++ & 0xffffff);
    uint8_t* deth = bth + IB_BTH_SIZE;
    hca_set(deth, IB_DETH_QKEY, m->performance ? (uint32_t)IB_GSI_QKEY : 0);
    hca_set(deth, IB_DETH_QP, m->performance);
}

bool verbs_send_mad(struct verbs_mads* m, const void* mad, uint16_t lid, uint32_t qpn) {
    uint8_t* at = slot_at(m, SLOTS + (m->qp.send_queue.head & (SLOTS - 1)));
    if (!verbs_send_space(&m->qp)) return false;
    write_headers(m, at, lid, qpn);
    memcpy(at + IB_DATAGRAM_HEADERS, mad, HCA_MAD_SIZE);
    const struct verbs_sge list[2] = {{(uintptr_t)at, m->mr.key, IB_DATAGRAM_HEADERS},
                                      {(uintptr_t)at + IB_DATAGRAM_HEADERS, m->mr.key, HCA_MAD_SIZE}};
    const struct verbs_send_request s = {
        .list = list, .elements = 2, .opcode = HCA_OP_SEND, .flags = VERBS_SIGNALLED, .to = {.lid = lid}};
    return verbs_post_send(&m->qp, &s, 1) == 1;
}

/* A request of another node. What came by a directed route goes back by it. */
static void serve(struct verbs_mads* m, uint8_t* mad, const struct verbs_completion* from) {
    const bool directed = hca_get(mad, HCA_MAD_CLASS) == HCA_MAD_SUBNET_DIRECTED;
    const unsigned hops = mad[HCA_MAD_HOP_COUNT];
    if (directed) {
        if (hops > HCA_MAD_MAX_HOPS || mad[HCA_MAD_HOP_POINTER] != hops) return;
        if (hops) mad[HCA_MAD_RETURN_PATH + hops] = 1;
    }
    if (verbs_mad(m->pd->device, mad, mad) != HCA_OK) return;
    ++m->requests_processed;
    verbs_send_mad(m, mad, directed ? IB_PERMISSIVE_LID : from->source_lid, m->performance ? from->source_qpn : 0);
}

/* \returns whether a completion is a response, which is in `mad` then */
static bool poll(struct verbs_mads* m, const struct verbs_completion* c, uint8_t* mad) {
    if (c->is_send) return false;
    const uint64_t slot = c->id;
    const bool good = !c->syndrome && c->bytes == HCA_GRH_BYTES + HCA_MAD_SIZE;
    if (good) memcpy(mad, slot_at(m, slot) + HCA_GRH_BYTES, HCA_MAD_SIZE);
    post_slot(m, slot);
    if (!good) return false;
    if (hca_get(mad, HCA_MAD_METHOD) & HCA_MAD_RESPONSE) return true;
    serve(m, mad, c);
    return false;
}

bool verbs_receive_mad(struct verbs_mads* m, void* mad, uint64_t microseconds) {
    const uint64_t begin = timer_now();
    do {
        struct verbs_completion c;
        if (verbs_poll(&m->cq, &c, 1) && poll(m, &c, mad)) return true;
    } while (timer_wait_more(begin, microseconds));
    return false;
}

static void write_request(uint8_t* mad, const struct verbs_route* route, unsigned attribute, uint32_t modifier,
                          uint64_t transaction) {
    verbs_write_get(mad, HCA_MAD_SUBNET_DIRECTED, attribute, modifier);
    hca_set_long(mad, HCA_MAD_TRANSACTION, transaction);
    hca_set(mad, HCA_MAD_DIRECTED_SLID, IB_PERMISSIVE_LID);
    hca_set(mad, HCA_MAD_DIRECTED_DLID, IB_PERMISSIVE_LID);
    mad[HCA_MAD_HOP_POINTER] = route->hops ? 1 : 0;
    mad[HCA_MAD_HOP_COUNT] = route->hops;
    memcpy(mad + HCA_MAD_INITIAL_PATH + 1, route->port, route->hops);
}

bool verbs_get_routed(struct verbs_mads* m, const struct verbs_route* route, unsigned attribute, uint32_t modifier,
                      uint8_t* data) {
    uint8_t request[HCA_MAD_SIZE], response[HCA_MAD_SIZE];
    for (unsigned tries = 0; tries < TRIES; ++tries) {
        write_request(request, route, attribute, modifier, ++m->transaction);
        bool came = false;
        if (!route->hops)
            came = verbs_mad(m->pd->device, request, response) == HCA_OK;
        else if (verbs_send_mad(m, request, IB_PERMISSIVE_LID, 0))
            while ((came = verbs_receive_mad(m, response, TIMEOUT_US)) &&
                   hca_get_long(response, HCA_MAD_TRANSACTION) != m->transaction) {
            }
        if (!came) continue;
        if (hca_get(response, HCA_MAD_STATUS) & ~(unsigned)HCA_MAD_DIRECTION) return false;
        memcpy(data, response + HCA_MAD_DATA, HCA_MAD_DATA_SIZE);
        return true;
    }
    return false;
}
