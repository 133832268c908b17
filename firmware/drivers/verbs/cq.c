/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/verbs/internal.h"
#include "lib/harts.h"
#include "lib/heap.h"
#include "lib/mmio.h"
#include "lib/timer.h"

enum { COMPLETIONS_EQ = 0, BTH_OPERATION = 0x1f, POLLS_PER_CHECK = 64 };

static volatile uint64_t* entry_of(uintptr_t at, uint32_t counter, unsigned log_size) {
    return (volatile uint64_t*)at + (counter & ((1u << log_size) - 1)) * HCA_CQE_WORDS;
}

static void set_all_hardware_owned(uintptr_t at, unsigned log_size) {
    for (uint32_t i = 0; i < 1u << log_size; ++i) entry_of(at, i, log_size)[HCA_CQE_LAST] = HCA_CQE_HARDWARE_OWNED;
}

static bool set_hardware_owned(struct verbs_cq* cq) {
    uint8_t c[HCA_CQC_SIZE] = {0};
    hca_set(c, HCA_CQC_LOG_SIZE, cq->log_size);
    hca_set(c, HCA_CQC_UAR, cq->uar->number);
    hca_set(c, HCA_CQC_EQN, COMPLETIONS_EQ);
    hca_set(c, HCA_CQC_PD, cq->pd->number);
    hca_set(c, HCA_CQC_LKEY, cq->buffer.mr.key);
    hca_set(c, HCA_CQC_NUMBER, cq->number);
    hca_set(c, HCA_CQC_CONSUMER_RECORD, cq->consumer_record);
    hca_set(c, HCA_CQC_ARM_RECORD, cq->arm_record);
    return verbs_command(cq->device, HCA_SW2HW_CQ, cq->number, 0, c, sizeof c, NULL, 0) == HCA_OK;
}

static void free_parts(struct verbs_cq* cq) {
    verbs_free_record(cq->uar, cq->consumer_record);
    verbs_free_record(cq->uar, cq->arm_record);
    if (cq->number != VERBS_NONE) verbs_pool_free(&cq->device->cqs, cq->number, 1);
    verbs_free_buffer(&cq->buffer);
}

bool verbs_create_cq(struct verbs_cq* cq, const struct verbs_pd* pd, unsigned log_size,
                     const struct verbs_object_memory* place) {
    struct verbs_device* d = pd->device;
    *cq = (struct verbs_cq){
        .device = d, .uar = place && place->uar ? place->uar : &d->uar, .pd = pd, .log_size = log_size};
    if (!verbs_make_buffer(&cq->buffer, pd, verbs_cq_bytes(log_size), VERBS_LOCAL_READ | VERBS_LOCAL_WRITE,
                           place ? place->memory : NULL))
        return false;
    set_all_hardware_owned(cq->buffer.memory.at, log_size);
    cq->number = verbs_pool_allocate(&d->cqs, 1);
    cq->consumer_record = verbs_allocate_record(cq->uar, NULL);
    cq->arm_record = verbs_allocate_record(cq->uar, NULL);
    if (cq->number == VERBS_NONE || cq->consumer_record == VERBS_NONE || cq->arm_record == VERBS_NONE ||
        !set_hardware_owned(cq)) {
        free_parts(cq);
        return false;
    }
    *verbs_record(cq->uar, cq->consumer_record) = hca_doorbell_record(0, cq->number, HCA_DBR_CQ_CONSUMER, 0);
    *verbs_record(cq->uar, cq->arm_record) = hca_doorbell_record(0, cq->number, HCA_DBR_CQ_ARM, 0);
    cq->armed = 1;
    d->cq[cq->number] = cq;
    return true;
}

void verbs_destroy_cq(struct verbs_cq* cq) {
    uint8_t unused[HCA_CQC_SIZE];
    verbs_command(cq->device, HCA_HW2SW_CQ, cq->number, 0, NULL, 0, unused, sizeof unused);
    cq->device->cq[cq->number] = NULL;
    free_parts(cq);
}

/* The device writes to the new buffer from the command's execution on; what has not been polled is in the old one. */
bool verbs_resize_cq(struct verbs_cq* cq, unsigned log_size, const struct verbs_memory* memory) {
    struct verbs_buffer fresh, old = cq->buffer;
    uint8_t r[HCA_RESIZE_SIZE] = {0};
    if (!verbs_make_buffer(&fresh, cq->pd, verbs_cq_bytes(log_size), VERBS_LOCAL_READ | VERBS_LOCAL_WRITE, memory))
        return false;
    set_all_hardware_owned(fresh.memory.at, log_size);
    hca_set(r, HCA_RESIZE_LOG_SIZE, log_size);
    hca_set(r, HCA_RESIZE_LKEY, fresh.mr.key);
    if (verbs_command(cq->device, HCA_RESIZE_CQ, cq->number, 1, r, sizeof r, NULL, 0)) {
        verbs_free_buffer(&fresh);
        return false;
    }
    for (uint32_t i = cq->consumer;; ++i) {
        const volatile uint64_t* from = entry_of(old.memory.at, i, cq->log_size);
        if (!hca_cqe_software_owned(from[HCA_CQE_LAST]) || i - cq->consumer == 1u << cq->log_size) break;
        volatile uint64_t* to = entry_of(fresh.memory.at, i, log_size);
        for (unsigned w = 0; w < HCA_CQE_WORDS; ++w) to[w] = from[w];
    }
    cq->buffer = fresh;
    cq->log_size = log_size;
    verbs_free_buffer(&old);
    return true;
}

/* Entries up to the one at `offset` are complete: those of sends in order, of a shared queue in any. */
static uint64_t retire(struct verbs_qp* qp, bool is_send, uint32_t offset) {
    if (!is_send && qp->shape.srq) {
        struct verbs_srq* srq = qp->shape.srq;
        const uint16_t entry = (uint16_t)(offset >> srq->ring.log_stride);
        verbs_free_srq_entry(srq, entry);
        return srq->ring.id[entry];
    }
    struct verbs_work_queue* r = is_send ? &qp->send_queue : &qp->receive_queue;
    const uint32_t mask = (1u << r->log_size) - 1, index = (offset - r->start) >> r->log_stride;
    r->tail = (uint16_t)(r->tail + ((index - r->tail) & mask) + 1);
    return r->id ? r->id[index & mask] : 0;
}

static void decode(struct verbs_device* d, const uint8_t* e, struct verbs_completion* c) {
    const unsigned opcode = hca_get(e, HCA_CQE_OPCODE);
    const bool error = opcode == HCA_CQE_ERROR_SEND || opcode == HCA_CQE_ERROR_RECEIVE;
    *c = (struct verbs_completion){.qpn = hca_get(e, HCA_CQE_QPN), .opcode = (uint8_t)opcode};
    c->is_send = error ? opcode == HCA_CQE_ERROR_SEND : hca_get(e, HCA_CQE_IS_SEND);
    struct verbs_qp* qp = d->qp[c->qpn & ((1u << VERBS_LOG_QPS) - 1)];
    if (qp && qp->number == c->qpn) c->id = retire(qp, c->is_send, hca_get(e, HCA_CQE_WQE));
    if (error) {
        c->syndrome = (uint8_t)hca_get(e, HCA_CQE_SYNDROME);
        return;
    }
    c->bytes = hca_get(e, HCA_CQE_BYTES);
    if (c->is_send) return;
    const unsigned operation = opcode & BTH_OPERATION;
    c->has_immediate = operation == 3 || operation == 5 || operation == 9 || operation == 11;
    if (c->has_immediate) c->immediate = hca_get(e, HCA_CQE_IMMEDIATE);
    c->has_grh = hca_get(e, HCA_CQE_GRH);
    c->source_qpn = hca_get(e, HCA_CQE_SOURCE_QPN);
    c->source_lid = (uint16_t)hca_get(e, HCA_CQE_SOURCE_LID);
}

/* The others move up to where the next completion will be written. */
void verbs_drop_completions(struct verbs_cq* cq, const struct verbs_qp* qp) {
    uint32_t end = cq->consumer;
    while (end - cq->consumer < 1u << cq->log_size &&
           hca_cqe_software_owned(entry_of(cq->buffer.memory.at, end, cq->log_size)[HCA_CQE_LAST]))
        ++end;
    __asm__ volatile("fence r, r" ::: "memory");
    uint32_t begin = end;
    for (uint32_t i = end; i != cq->consumer;) {
        const volatile uint64_t* from = entry_of(cq->buffer.memory.at, --i, cq->log_size);
        uint64_t words[HCA_CQE_WORDS];
        for (unsigned w = 0; w < HCA_CQE_WORDS; ++w) words[w] = from[w];
        const uint8_t* e = (const uint8_t*)words;
        if (hca_get(e, HCA_CQE_QPN) != qp->number) {
            volatile uint64_t* to = entry_of(cq->buffer.memory.at, --begin, cq->log_size);
            for (unsigned w = 0; begin != i && w < HCA_CQE_WORDS; ++w) to[w] = words[w];
            continue;
        }
        const unsigned opcode = hca_get(e, HCA_CQE_OPCODE);
        const bool is_send =
            opcode == HCA_CQE_ERROR_SEND || (opcode != HCA_CQE_ERROR_RECEIVE && hca_get(e, HCA_CQE_IS_SEND));
        if (!is_send && qp->shape.srq)
            verbs_free_srq_entry(qp->shape.srq, (uint16_t)(hca_get(e, HCA_CQE_WQE) >> qp->shape.srq->ring.log_stride));
    }
    if (begin == cq->consumer) return;
    for (; cq->consumer != begin; ++cq->consumer)
        entry_of(cq->buffer.memory.at, cq->consumer, cq->log_size)[HCA_CQE_LAST] = HCA_CQE_HARDWARE_OWNED;
    verbs_order();
    *(volatile uint32_t*)verbs_record(cq->uar, cq->consumer_record) = hca_swap32(cq->consumer);
}

unsigned verbs_poll(struct verbs_cq* cq, struct verbs_completion* to, unsigned max) {
    unsigned found = 0;
    for (; found < max; ++found) {
        volatile uint64_t* at = entry_of(cq->buffer.memory.at, cq->consumer, cq->log_size);
        uint64_t words[HCA_CQE_WORDS];
        words[HCA_CQE_LAST] = at[HCA_CQE_LAST];
        if (!hca_cqe_software_owned(words[HCA_CQE_LAST])) break;
        __asm__ volatile("fence r, r" ::: "memory");
        for (unsigned i = 0; i < HCA_CQE_LAST; ++i) words[i] = at[i];
        at[HCA_CQE_LAST] = HCA_CQE_HARDWARE_OWNED;
        ++cq->consumer;
        decode(cq->device, (const uint8_t*)words, &to[found]);
    }
    if (found) {
        verbs_order();
        *(volatile uint32_t*)verbs_record(cq->uar, cq->consumer_record) = hca_swap32(cq->consumer);
    }
    return found;
}

bool verbs_wait(struct verbs_cq* cq, struct verbs_completion* to, uint64_t microseconds) {
    const uint64_t begin = timer_now();
    for (unsigned polls = 0; !verbs_poll(cq, to, 1); ++polls) {
        if (polls % POLLS_PER_CHECK == POLLS_PER_CHECK - 1 && !timer_wait_more(begin, microseconds)) return false;
        relax();
    }
    return true;
}

void verbs_arm(struct verbs_cq* cq, bool solicited_only) {
    const unsigned command = solicited_only ? HCA_ARM_SOLICITED : HCA_ARM_NEXT;
    *verbs_record(cq->uar, cq->arm_record) =
        hca_doorbell_record(cq->consumer, cq->number, HCA_DBR_CQ_ARM, (cq->armed & 3) << 3 | command);
    verbs_order();
    mmio_write64(cq->uar->doorbells + HCA_UAR_CQ, hca_arm_doorbell(cq->number, cq->armed, command, cq->consumer));
    ++cq->armed;
}

struct waited {
    struct verbs_cq* cq;
    uint32_t events;
};

static bool has_come(void* context) {
    const struct waited* w = context;
    if (w->cq->device->delivery == PCI_POLLED) verbs_poll_events(w->cq->device);
    return w->cq->events != w->events;
}

bool verbs_wait_event(struct verbs_cq* cq, uint32_t events, uint64_t microseconds) {
    struct waited w = {cq, events};
    if (cq->device->delivery != PCI_POLLED) return timer_wait_for(has_come, &w, microseconds);
    const uint64_t begin = timer_now();
    while (!has_come(&w))
        if (!timer_wait_more(begin, microseconds)) return false;
    return true;
}
