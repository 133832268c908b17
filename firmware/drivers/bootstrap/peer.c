/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/bootstrap/peer.h"

#include "lib/machine.h"
#include "lib/timer.h"

enum {
    ACK_TIMEOUT = 8, /* about 1 ms, more than the longest way there and back */
    RETRIES = 7,
    RNR_TIMER = 12,
    FOR_EVER = 7,
    PSN_MASK = 0xffffff
};

static uint8_t* slot_at(const struct bootstrap* p, unsigned rank, unsigned index) {
    return p->control_memory + HELLO_BYTES + (rank * 2 * PEER_SLOTS + index) * PEER_SLOT;
}

static void post_receive(struct bootstrap* p, unsigned rank, unsigned slot) {
    struct bootstrap_peer* peer = &p->peers[rank];
    const struct verbs_sge e = {(uintptr_t)slot_at(p, rank, slot), p->control_mr.key, sizeof(struct bootstrap_message)};
    const struct verbs_receive_request r = {request_id(REQUEST_PEER, rank, slot), &e, 1};
    if (verbs_post_receive(&peer->qp, &r, 1) != 1) panic("bootstrap: no room for a receive");
    ++peer->receives;
}

/* To INIT, with all receives. */
static void listen(struct bootstrap* p, unsigned rank) {
    struct bootstrap_peer* peer = &p->peers[rank];
    const struct verbs_qp_attributes a = {.log_mtu = p->log_mtu};
    if (!verbs_modify(&peer->qp, HCA_QP_INIT, &a))
        panic("bootstrap: the queue pair to node %u does not start, status 0x%x", rank, p->hca.status);
    for (unsigned i = 0; i < PEER_SLOTS; ++i) post_receive(p, rank, i);
}

/* From INIT to RTS, from the next message of each direction on. */
static void start(struct bootstrap* p, unsigned rank) {
    struct bootstrap_peer* peer = &p->peers[rank];
    const struct verbs_qp_attributes a = {.log_mtu = p->log_mtu,
                                          .remote_qpn = peer->remote_qpn,
                                          .send_psn = peer->acknowledged & PSN_MASK,
                                          .receive_psn = peer->received & PSN_MASK,
                                          .remote_lid = (uint16_t)(rank + 1),
                                          .ack_timeout = ACK_TIMEOUT,
                                          .retries = RETRIES,
                                          .rnr_retries = FOR_EVER,
                                          .rnr_timer = RNR_TIMER};
    if (!verbs_modify(&peer->qp, HCA_QP_RTR, &a) || !verbs_modify(&peer->qp, HCA_QP_RTS, &a))
        panic("bootstrap: the queue pair to node %u cannot be connected, status 0x%x", rank, p->hca.status);
}

void peer_open(struct bootstrap* p, unsigned rank) {
    struct bootstrap_peer* peer = &p->peers[rank];
    if (peer->exists) return;
    const struct verbs_qp_shape shape = {.type = HCA_QP_RC,
                                         .send_cq = &p->control_cq,
                                         .receive_cq = &p->control_cq,
                                         .log_sq_size = PEER_LOG_SLOTS,
                                         .log_rq_size = PEER_LOG_SLOTS,
                                         .max_send_sge = 1,
                                         .max_receive_sge = 1};
    if (!verbs_create_qp(&peer->qp, &p->pd, &shape, NULL))
        panic("bootstrap: no queue pair to node %u, status 0x%x", rank, p->hca.status);
    peer->exists = true;
    listen(p, rank);
}

void peer_connect(struct bootstrap* p, unsigned rank, uint32_t remote_qpn) {
    struct bootstrap_peer* peer = &p->peers[rank];
    if (peer->connected) return;
    peer->remote_qpn = remote_qpn;
    start(p, rank);
    peer->connected = true;
}

bool peer_has_room(const struct bootstrap_peer* peer) { return peer->sent - peer->acknowledged < PEER_SLOTS; }

void peer_send(struct bootstrap* p, unsigned rank, const struct bootstrap_message* m) {
    struct bootstrap_peer* peer = &p->peers[rank];
    memcpy(slot_at(p, rank, PEER_SLOTS + peer->sent++ % PEER_SLOTS), m, sizeof *m);
    peer_post(p, rank);
}

void peer_post(struct bootstrap* p, unsigned rank) {
    struct bootstrap_peer* peer = &p->peers[rank];
    if (!peer->connected || !peer->listens || peer->failed) return;
    for (; peer->posted != peer->sent; ++peer->posted, ++peer->sends) {
        const unsigned slot = PEER_SLOTS + peer->posted % PEER_SLOTS;
        const struct verbs_sge e = {(uintptr_t)slot_at(p, rank, slot), p->control_mr.key,
                                    sizeof(struct bootstrap_message)};
        const struct verbs_send_request s = {.id = request_id(REQUEST_PEER, rank, slot),
                                             .list = &e,
                                             .elements = 1,
                                             .opcode = HCA_OP_SEND,
                                             .flags = VERBS_SIGNALLED};
        if (verbs_post_send(&peer->qp, &s, 1) != 1) panic("bootstrap: no room for a send");
    }
}

void peer_completed(struct bootstrap* p, unsigned rank, unsigned slot, const struct verbs_completion* c) {
    struct bootstrap_peer* peer = &p->peers[rank];
    --*(c->is_send ? &peer->sends : &peer->receives);
    if (c->syndrome) {
        if (c->syndrome != HCA_RETRIES_EXCEEDED && c->syndrome != HCA_FLUSHED)
            panic("bootstrap: %s", verbs_syndrome_name(c->syndrome));
        if (!peer->failed) ++p->failed_peers;
        peer->failed = true;
        return;
    }
    if (c->is_send) {
        ++peer->acknowledged;
        return;
    }
    const struct bootstrap_message* m = (const struct bootstrap_message*)slot_at(p, rank, slot);
    peer->inbox[m->tag & 1] = *m;
    ++peer->received;
    peer->listens = peer->heard = true;
    if (!peer->failed) post_receive(p, rank, slot);
}

/* What had arrived before the failure counts, so nothing may be in the adapter's hands any more. */
void peer_restart(struct bootstrap* p, unsigned rank) {
    struct bootstrap_peer* peer = &p->peers[rank];
    const uint64_t begin = timer_now();
    if (!verbs_modify(&peer->qp, HCA_QP_ERR, NULL))
        panic("bootstrap: the queue pair to node %u cannot be stopped, status 0x%x", rank, p->hca.status);
    while (peer->receives || peer->sends) {
        bootstrap_take_completions(p);
        if (!timer_wait_more(begin, BOOTSTRAP_TIMEOUT_US))
            panic("bootstrap: the queue pair to node %u does not stop", rank);
    }
    if (!verbs_modify(&peer->qp, HCA_QP_RESET, NULL))
        panic("bootstrap: the queue pair to node %u cannot be reset, status 0x%x", rank, p->hca.status);
    peer->failed = false;
    --p->failed_peers;
    peer->posted = peer->acknowledged;
    listen(p, rank);
    start(p, rank);
    peer_post(p, rank);
}
