/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams by which two ranks tell each other the numbers of their queue pairs. */
#include "drivers/bootstrap/peer.h"
#include "lib/machine.h"

enum { HELLO_QKEY = 0x46565030 };

struct hello {
    uint32_t from, qpn;
    uint32_t connected; /* the sender knows the receiver's queue pair, and listens to it */
};

static void post_slot(struct bootstrap* p, unsigned slot) {
    const struct verbs_sge e = {(uintptr_t)p->control_memory + slot * HELLO_SLOT, p->control_mr.key,
                                HCA_GRH_BYTES + sizeof(struct hello)};
    const struct verbs_receive_request r = {request_id(REQUEST_HELLO, 0, slot), &e, 1};
    if (verbs_post_receive(&p->hello_qp, &r, 1) != 1) panic("bootstrap: no room for a receive");
}

void hello_open(struct bootstrap* p) {
    const struct verbs_qp_shape shape = {.type = HCA_QP_UD,
                                         .send_cq = &p->control_cq,
                                         .receive_cq = &p->control_cq,
                                         .log_sq_size = HELLO_LOG_SLOTS,
                                         .log_rq_size = HELLO_LOG_SLOTS,
                                         .max_send_sge = 1,
                                         .max_receive_sge = 1};
    const struct verbs_qp_attributes attributes = {.log_mtu = p->log_mtu, .qkey = HELLO_QKEY};
    if (!verbs_create_qp(&p->hello_qp, &p->pd, &shape, NULL) || !verbs_modify(&p->hello_qp, HCA_QP_INIT, &attributes))
        panic("bootstrap: no queue pair for datagrams, status 0x%x", p->hca.status);
    for (unsigned i = 0; i < HELLO_SLOTS; ++i) post_slot(p, i);
    if (!verbs_modify(&p->hello_qp, HCA_QP_RTR, &attributes) || !verbs_modify(&p->hello_qp, HCA_QP_RTS, &attributes))
        panic("bootstrap: the queue pair for datagrams does not start, status 0x%x", p->hca.status);
}

void hello_send(struct bootstrap* p, unsigned rank) {
    const unsigned slot = HELLO_SLOTS + (p->hello_qp.send_queue.head & (HELLO_SLOTS - 1));
    uint8_t* at = p->control_memory + slot * HELLO_SLOT;
    if (!verbs_send_space(&p->hello_qp)) return; /* as if it were lost */
    const struct hello h = {p->comm.rank, p->peers[rank].qp.number, p->peers[rank].connected};
    memcpy(at, &h, sizeof h);
    const struct verbs_sge e = {(uintptr_t)at, p->control_mr.key, sizeof h};
    const struct verbs_send_request s = {
        .id = request_id(REQUEST_HELLO, 0, slot),
        .list = &e,
        .elements = 1,
        .opcode = HCA_OP_SEND,
        .flags = VERBS_SIGNALLED,
        .to = {.lid = (uint16_t)(rank + 1), .qpn = p->hello_qp.number, .qkey = HELLO_QKEY}};
    if (verbs_post_send(&p->hello_qp, &s, 1) != 1) panic("bootstrap: no room for a datagram");
}

void hello_completed(struct bootstrap* p, const struct verbs_completion* c) {
    if (c->syndrome) panic("bootstrap: %s", verbs_syndrome_name(c->syndrome));
    if (c->is_send) return;
    const unsigned slot = (unsigned)(c->id & 0xffff);
    struct hello h;
    memcpy(&h, p->control_memory + slot * HELLO_SLOT + HCA_GRH_BYTES, sizeof h);
    post_slot(p, slot);
    if (h.from >= p->comm.size || h.from == p->comm.rank) return;
    peer_open(p, h.from);
    peer_connect(p, h.from, h.qpn);
    if (h.connected) {
        p->peers[h.from].listens = true;
        peer_post(p, h.from);
    } else {
        hello_send(p, h.from);
    }
}
