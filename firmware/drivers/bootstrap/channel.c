/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/bootstrap/bootstrap.h"
#include "lib/heap.h"
#include "lib/machine.h"

enum {
    ACK_TIMEOUT = 14,
    RETRIES = 7,
    RNR_TIMER = 12,
    SHORT_ACK_TIMEOUT = 4,
    SHORT_RNR_TIMER = 1,
    FOR_EVER = 7,
    LOG_READS = 2,
    FIRST_PSN = 0xfffff0
};

static struct verbs_object_memory place(struct bootstrap* p, const struct channel_shape* s, channel_memory take,
                                        uint64_t bytes, struct verbs_memory* memory) {
    if (take) *memory = take(p, bytes);
    return (struct verbs_object_memory){take ? memory : NULL, s->uar};
}

/* To RTR. */
static void prepare(struct channel* c, unsigned rights) {
    struct bootstrap* p = c->bootstrap;
    const struct {
        uint64_t address;
        uint32_t qpn, rkey;
    } local = {c->memory.at, c->qp.number, c->mr.key};
    __typeof__(local) remote;
    bootstrap_exchange(p, c->with, &local, (void*)&remote, sizeof local);
    c->remote.qpn = remote.qpn;
    c->remote.rkey = remote.rkey;
    c->remote.address = remote.address;
    c->attributes = (struct verbs_qp_attributes){.rights = rights,
                                                 .log_mtu = p->log_mtu,
                                                 .remote_qpn = remote.qpn,
                                                 .send_psn = FIRST_PSN,
                                                 .receive_psn = FIRST_PSN,
                                                 .qkey = DATAGRAM_QKEY,
                                                 .remote_lid = (uint16_t)(c->with + 1),
                                                 .log_reads = LOG_READS,
                                                 .ack_timeout = c->fast ? SHORT_ACK_TIMEOUT : ACK_TIMEOUT,
                                                 .retries = c->fast ? 1 : RETRIES,
                                                 .rnr_retries = c->fast ? 2 : FOR_EVER,
                                                 .rnr_timer = c->fast ? SHORT_RNR_TIMER : RNR_TIMER};
    if (!verbs_modify(&c->qp, HCA_QP_INIT, &c->attributes) || !verbs_modify(&c->qp, HCA_QP_RTR, &c->attributes))
        panic("channel: cannot be connected, status 0x%x", p->hca.status);
}

void channel_open(struct channel* c, struct bootstrap* p, unsigned with, const struct channel_shape* s) {
    const struct verbs_qp_shape shape = {.type = s->type,
                                         .send_cq = &c->send_cq,
                                         .receive_cq = &c->receive_cq,
                                         .srq = s->srq,
                                         .log_sq_size = s->log_sq_size,
                                         .log_rq_size = s->log_rq_size,
                                         .max_send_sge = s->elements,
                                         .max_receive_sge = s->elements,
                                         .inline_bytes = s->inline_bytes};
    struct verbs_memory of[3];
    const struct verbs_object_memory queues = place(p, s, s->queues, verbs_qp_bytes(&shape), &of[0]),
                                     send_cq_memory = place(p, s, s->cqs, verbs_cq_bytes(LOG_CQ), &of[1]),
                                     receive_cq_memory = place(p, s, s->cqs, verbs_cq_bytes(LOG_CQ), &of[2]);
    *c = (struct channel){.bootstrap = p, .with = with, .own_memory = !s->memory};
    c->memory =
        s->memory ? s->memory(p, s->bytes) : verbs_host_memory(heap_allocate_aligned(s->bytes, HCA_PAGE), s->bytes);
    if (!c->memory.at) panic("channel: out of memory");
    if (!verbs_register(&c->mr, &p->pd, &c->memory, c->memory.at, VERBS_ALL_RIGHTS, VERBS_LOG_PAGE) ||
        !verbs_create_cq(&c->send_cq, &p->pd, LOG_CQ, &send_cq_memory) ||
        !verbs_create_cq(&c->receive_cq, &p->pd, LOG_CQ, &receive_cq_memory) ||
        !verbs_create_qp(&c->qp, &p->pd, &shape, &queues))
        panic("channel: cannot be made, status 0x%x", p->hca.status);
    c->fast = s->fast;
    const unsigned rights = s->rights ? s->rights : VERBS_ALL_RIGHTS;
    if (!s->held) return channel_connect(c, rights);
    prepare(c, rights);
    bootstrap_barrier_with(p, with);
}

void channel_start(struct channel* c) {
    if (!verbs_modify(&c->qp, HCA_QP_RTS, &c->attributes))
        panic("channel: cannot be started, status 0x%x", c->bootstrap->hca.status);
}

void channel_connect(struct channel* c, unsigned rights) {
    prepare(c, rights);
    channel_start(c);
    bootstrap_barrier_with(c->bootstrap, c->with);
}

void channel_close(struct channel* c) {
    bootstrap_barrier_with(c->bootstrap, c->with);
    verbs_destroy_qp(&c->qp);
    verbs_destroy_cq(&c->send_cq);
    verbs_destroy_cq(&c->receive_cq);
    verbs_unregister(&c->mr);
    if (c->own_memory) heap_free((void*)c->memory.at);
}

struct verbs_send_request channel_request(const struct channel* c, enum hca_opcode opcode, struct verbs_sge* e,
                                          uint64_t from, uint64_t to, uint32_t bytes) {
    *e = (struct verbs_sge){c->memory.at + from, c->mr.key, bytes};
    return (struct verbs_send_request){
        .list = e,
        .elements = 1,
        .opcode = opcode,
        .flags = VERBS_SIGNALLED,
        .rkey = c->remote.rkey,
        .remote = c->remote.address + to,
        .to = {.lid = (uint16_t)(c->with + 1), .qpn = c->remote.qpn, .qkey = DATAGRAM_QKEY}};
}

unsigned channel_send(struct channel* c, const struct verbs_send_request* request,
                      struct verbs_completion* completion) {
    if (verbs_post_send(&c->qp, request, 1) != 1) panic("channel: a request does not fit");
    return verbs_wait(&c->send_cq, completion, BOOTSTRAP_TIMEOUT_US) ? completion->syndrome : NO_COMPLETION;
}
