/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/verbs/internal.h"
#include "lib/heap.h"

enum { PORT = 1, MAX_LOG_ENTRIES = 14, LOG_MESSAGE = 31, LOG_DATAGRAM = 11, MAX_IN_FLIGHT = 9, ACK_FREQUENCY = 10 };
/* An entry's size has six bits, in 16 bytes. */
enum { MAX_SEND_BYTES = 63 * HCA_SEGMENT };

/* Atomics have a segment more than writes, and no data inline. */
static uint64_t send_bytes(const struct verbs_qp_shape* s) {
    const unsigned address = s->type == HCA_QP_UD ? HCA_UD_SIZE : HCA_SEGMENT;
    const uint64_t atomic = s->type == HCA_QP_RC ? HCA_SEGMENT : 0, list = UINT64_C(1) * HCA_SEGMENT * s->max_send_sge,
                   inlined = s->inline_bytes ? UINT64_C(4) + s->inline_bytes : 0;
    const uint64_t data = s->type == HCA_QP_MLX ? list + HCA_SEGMENT
                          : list > inlined      ? list
                                                : inlined; /* the ICRC's place */
    return HCA_SEGMENT + address + (data > atomic + HCA_SEGMENT ? data : atomic + HCA_SEGMENT);
}
static unsigned send_stride(const struct verbs_qp_shape* s) { return verbs_log_stride(send_bytes(s)); }
static unsigned receive_stride(const struct verbs_qp_shape* s) {
    return verbs_log_stride(HCA_SEGMENT * (UINT64_C(1) + s->max_receive_sge));
}

static uint64_t ring_bytes(unsigned log_size, unsigned log_stride) {
    return log_size ? UINT64_C(1) << (log_size + log_stride) : 0;
}

uint64_t verbs_qp_bytes(const struct verbs_qp_shape* s) {
    const uint64_t receive_queue = ring_bytes(s->srq ? 0 : s->log_rq_size, receive_stride(s)),
                   align = UINT64_C(1) << send_stride(s);
    return ((receive_queue + align - 1) & ~(align - 1)) + ring_bytes(s->log_sq_size, send_stride(s));
}

/* Receives first, sends behind them. */
static bool make_rings(struct verbs_qp* qp) {
    const struct verbs_qp_shape* s = &qp->shape;
    const unsigned log_rq_size = s->srq ? 0 : s->log_rq_size;
    qp->receive_queue = (struct verbs_work_queue){
        .at = qp->buffer.memory.at, .log_size = log_rq_size, .log_stride = receive_stride(s), .record = VERBS_NONE};
    qp->send_queue = (struct verbs_work_queue){
        .at = qp->buffer.memory.at, .log_size = s->log_sq_size, .log_stride = send_stride(s), .record = VERBS_NONE};
    qp->send_queue.send_bytes =
        qp->send_queue.log_stride == VERBS_MAX_LOG_STRIDE ? MAX_SEND_BYTES : 1u << qp->send_queue.log_stride;
    qp->send_queue.start = (uint32_t)(verbs_qp_bytes(s) - ring_bytes(s->log_sq_size, qp->send_queue.log_stride));
    qp->send_queue.record = verbs_allocate_record(qp->uar, &qp->send_queue.record_at);
    qp->receive_queue.record = verbs_allocate_record(qp->uar, &qp->receive_queue.record_at);
    qp->send_queue.id = heap_allocate(sizeof(uint64_t) << s->log_sq_size);
    qp->receive_queue.id = heap_allocate(sizeof(uint64_t) << log_rq_size);
    return qp->send_queue.record != VERBS_NONE && qp->receive_queue.record != VERBS_NONE && qp->send_queue.id &&
           qp->receive_queue.id;
}

/* What the adapter shall know as queue pair 0 or 1. \param number 0: none */
static bool name_special(const struct verbs_qp* qp, uint32_t number) {
    const unsigned which = qp->shape.special == VERBS_GSI ? HCA_SPECIAL_GSI : HCA_SPECIAL_SMI;
    return verbs_command(qp->device, HCA_CONF_SPECIAL_QP, number, which, NULL, 0, NULL, 0) == HCA_OK;
}

static void free_parts(struct verbs_qp* qp) {
    verbs_free_record(qp->uar, qp->send_queue.record);
    verbs_free_record(qp->uar, qp->receive_queue.record);
    heap_free(qp->send_queue.id);
    heap_free(qp->receive_queue.id);
    if (qp->number != VERBS_NONE && !qp->shape.special)
        verbs_pool_free(&qp->device->qps, qp->number & ((1u << VERBS_LOG_QPS) - 1), 1);
    verbs_free_buffer(&qp->buffer);
}

bool verbs_create_qp(struct verbs_qp* qp, const struct verbs_pd* pd, const struct verbs_qp_shape* shape,
                     const struct verbs_object_memory* place) {
    struct verbs_device* d = pd->device;
    *qp = (struct verbs_qp){.pd = pd, .device = d, .uar = place && place->uar ? place->uar : &d->uar, .shape = *shape};
    if (!shape->send_cq || !shape->receive_cq || !shape->log_sq_size || shape->log_sq_size > MAX_LOG_ENTRIES ||
        shape->log_rq_size > MAX_LOG_ENTRIES || send_bytes(shape) > MAX_SEND_BYTES ||
        receive_stride(shape) > VERBS_MAX_LOG_STRIDE)
        return false;
    if (!verbs_make_buffer(&qp->buffer, pd, verbs_qp_bytes(shape), VERBS_LOCAL_READ, place ? place->memory : NULL))
        return false;
    const uint32_t special = d->special + (shape->special == VERBS_GSI ? 2 : 0);
    qp->number = shape->special ? special : verbs_pool_allocate(&d->qps, 1);
    const bool taken = shape->special && d->qp[special];
    if (!make_rings(qp) || qp->number == VERBS_NONE || taken || (shape->special && !name_special(qp, special))) {
        free_parts(qp);
        return false;
    }
    const uint32_t index = qp->number;
    if (!shape->special)
        qp->number |= d->qp_generation++ / (1u << VERBS_LOG_QPS) << VERBS_LOG_QPS &
                      0xffffff; /* the first ones have small numbers */
    d->qp[index] = qp;
    return true;
}

void verbs_destroy_qp(struct verbs_qp* qp) {
    verbs_modify(qp, HCA_QP_RESET, NULL);
    if (qp->shape.special) name_special(qp, 0);
    qp->device->qp[qp->number & ((1u << VERBS_LOG_QPS) - 1)] = NULL;
    free_parts(qp);
}

/* ---- states ---- */

static unsigned log_message(enum hca_qp_type type) {
    return type == HCA_QP_UD || type == HCA_QP_MLX ? LOG_DATAGRAM : LOG_MESSAGE;
}
static uint8_t* context_of(uint8_t* mailbox) { return mailbox + HCA_QP_CONTEXT; }

static void set_rights(uint8_t* mailbox, unsigned rights) {
    uint8_t* c = context_of(mailbox);
    hca_set(mailbox, HCA_QP_MASK, HCA_OPTPAR_REMOTE_READ | HCA_OPTPAR_REMOTE_WRITE | HCA_OPTPAR_REMOTE_ATOMIC);
    hca_set(c, HCA_QPC_REMOTE_READ, rights & VERBS_REMOTE_READ ? 1 : 0);
    hca_set(c, HCA_QPC_REMOTE_WRITE, rights & VERBS_REMOTE_WRITE ? 1 : 0);
    hca_set(c, HCA_QPC_REMOTE_ATOMIC, rights & VERBS_REMOTE_ATOMIC ? 1 : 0);
}

static void to_init(struct verbs_qp* qp, const struct verbs_qp_attributes* a, uint8_t* m) {
    uint8_t* c = context_of(m);
    const struct verbs_qp_shape* s = &qp->shape;
    qp->send_queue.head = qp->send_queue.tail = qp->receive_queue.head = qp->receive_queue.tail = 0;
    *qp->send_queue.record_at = hca_doorbell_record(0, qp->number, HCA_DBR_SQ, 0);
    *qp->receive_queue.record_at = hca_doorbell_record(0, qp->number, HCA_DBR_RQ, 0);
    hca_set(c, HCA_QPC_TYPE, s->type);
    hca_set(c, HCA_QPC_MIGRATION, HCA_MIGRATED);
    hca_set(c, HCA_QPC_LOG_RQ_SIZE, qp->receive_queue.log_size);
    hca_set(c, HCA_QPC_LOG_RQ_STRIDE, qp->receive_queue.log_stride - 4);
    hca_set(c, HCA_QPC_LOG_SQ_SIZE, qp->send_queue.log_size);
    hca_set(c, HCA_QPC_LOG_SQ_STRIDE, qp->send_queue.log_stride - 4);
    hca_set(c, HCA_QPC_UAR, qp->uar->number);
    hca_set(c, HCA_QPC_NUMBER, qp->number);
    hca_set(c + HCA_QPC_PATH, HCA_PATH_PORT, PORT);
    hca_set(c + HCA_QPC_PATH, HCA_PATH_PKEY_INDEX, a->pkey_index);
    hca_set(c, HCA_QPC_PD, qp->pd->number);
    hca_set(c, HCA_QPC_LKEY, qp->buffer.mr.key);
    hca_set(c, HCA_QPC_SIGNAL_ALL, s->signal_all);
    hca_set(c, HCA_QPC_SEND_CQN, s->send_cq->number);
    hca_set(c, HCA_QPC_RECEIVE_CQN, s->receive_cq->number);
    hca_set(c, HCA_QPC_SQ_START, qp->send_queue.start);
    hca_set(c, HCA_QPC_SQ_RECORD, qp->send_queue.record);
    hca_set(c, HCA_QPC_RQ_RECORD, qp->receive_queue.record);
    hca_set(c, HCA_QPC_SIGNAL_RECEIVES, 1);
    hca_set(c, HCA_QPC_QKEY, a->qkey);
    hca_set(c, HCA_QPC_MTU, a->log_mtu - 7);
    hca_set(c, HCA_QPC_LOG_MESSAGE, log_message(s->type));
    if (!s->srq) return;
    hca_set(c, HCA_QPC_HAS_SRQ, 1);
    hca_set(c, HCA_QPC_SRQN, s->srq->number);
    hca_set(c, HCA_QPC_NO_CREDITS, 1);
}

static void to_rtr(const struct verbs_qp* qp, const struct verbs_qp_attributes* a, uint8_t* m) {
    uint8_t* c = context_of(m);
    set_rights(m, a->rights);
    hca_set(c, HCA_QPC_MTU, a->log_mtu - 7);
    hca_set(c, HCA_QPC_LOG_MESSAGE, log_message(qp->shape.type));
    hca_set(c, HCA_QPC_REMOTE, a->remote_qpn);
    hca_set(c, HCA_QPC_RECEIVE_PSN, a->receive_psn);
    hca_set(c, HCA_QPC_RNR_TIMER, a->rnr_timer);
    hca_set(c, HCA_QPC_LOG_RECEIVE_READS, a->log_reads);
    hca_set(c + HCA_QPC_PATH, HCA_PATH_LID, a->remote_lid);
    hca_set(c + HCA_QPC_PATH, HCA_PATH_SERVICE_LEVEL, a->service_level);
}

static void to_rts(const struct verbs_qp_attributes* a, uint8_t* m) {
    uint8_t* c = context_of(m);
    hca_set(c + HCA_QPC_PATH, HCA_PATH_ACK_TIMEOUT, a->ack_timeout);
    hca_set(c + HCA_QPC_PATH, HCA_PATH_RNR_RETRIES, a->rnr_retries);
    hca_set(c, HCA_QPC_RETRIES, a->retries);
    hca_set(c, HCA_QPC_LOG_SEND_READS, a->log_reads);
    hca_set(c, HCA_QPC_SEND_READ, 1);
    hca_set(c, HCA_QPC_SEND_WRITE, 1);
    hca_set(c, HCA_QPC_SEND_ATOMIC, 1);
    hca_set(c, HCA_QPC_SEND_PSN, a->send_psn);
    hca_set(c, HCA_QPC_ACK_FREQUENCY, ACK_FREQUENCY);
    hca_set(c, HCA_QPC_FLIGHT_LIMIT, MAX_IN_FLIGHT);
}

/* What was posted counts no more, and its completions would be taken for those of later requests. Queues that others
 * post to and poll, lanes say, are left alone. */
static void drop_completions(struct verbs_qp* qp) {
    const struct verbs_work_queue *s = &qp->send_queue, *r = &qp->receive_queue;
    if (s->head != s->tail) verbs_drop_completions(qp->shape.send_cq, qp);
    if (r->head != r->tail || qp->shape.srq) verbs_drop_completions(qp->shape.receive_cq, qp);
}

bool verbs_modify(struct verbs_qp* qp, enum hca_qp_state to, const struct verbs_qp_attributes* a) {
    uint8_t m[HCA_QP_MAILBOX] = {0};
    unsigned opcode, modifier = 0, bytes = sizeof m;
    uint32_t number = qp->number;
    switch (to) {
        case HCA_QP_RESET: opcode = HCA_2RST_QP, modifier = 3, bytes = 0; break;
        case HCA_QP_ERR: opcode = HCA_2ERR_QP, bytes = 0; break;
        case HCA_QP_SQD: opcode = HCA_RTS2SQD_QP, number |= 1u << 31, bytes = 0; break; /* with an event */
        case HCA_QP_INIT: opcode = HCA_RST2INIT_QP, to_init(qp, a, m); break;
        case HCA_QP_RTR: opcode = HCA_INIT2RTR_QP, to_rtr(qp, a, m); break;
        case HCA_QP_RTS:
            opcode = qp->state == HCA_QP_SQD   ? HCA_SQD2RTS_QP
                     : qp->state == HCA_QP_RTS ? HCA_SQE2RTS_QP /* the adapter took it to SQE */
                                               : HCA_RTR2RTS_QP;
            if (opcode == HCA_RTR2RTS_QP) to_rts(a, m);
            break;
        default: return false;
    }
    if (verbs_command(qp->device, opcode, number, modifier, m, bytes, NULL, 0) != HCA_OK) return false;
    qp->state = to;
    if (to == HCA_QP_RESET) drop_completions(qp);
    return true;
}

bool verbs_connect(struct verbs_qp* qp, const struct verbs_qp_attributes* a) {
    return verbs_modify(qp, HCA_QP_INIT, a) && verbs_modify(qp, HCA_QP_RTR, a) && verbs_modify(qp, HCA_QP_RTS, a);
}

bool verbs_query_qp(struct verbs_qp* qp, uint8_t* context) {
    uint8_t m[HCA_QP_MAILBOX];
    if (verbs_command(qp->device, HCA_QUERY_QP, qp->number, 0, NULL, 0, m, sizeof m)) return false;
    memcpy(context, context_of(m), HCA_QPC_SIZE);
    return true;
}
