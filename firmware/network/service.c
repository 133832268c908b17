/* SPDX-License-Identifier: Apache-2.0 */
#include "network/service.h"

static void copy_words(void* to, uint64_t from, unsigned bytes) {
    for (unsigned i = 0; i < bytes / 8; ++i)
        ((uint64_t*)to)[i] = rdma_load64((const volatile uint64_t*)(uintptr_t)from + i);
}

void network_service_start(struct network_service* t, const struct network_service_descriptor* from,
                           uint64_t aperture) {
    struct network_service_descriptor descriptor;
    rdma_acquire();
    copy_words(&descriptor, (uintptr_t)from, sizeof descriptor);
    t->queues = descriptor.queues;
    t->log_entries = descriptor.log_entries;
    t->peers = descriptor.peers;
    for (unsigned i = 0; i < t->queues; ++i)
        t->consumers[i] = (struct network_consumer){
            .queue = (struct network_queue*)(uintptr_t)(descriptor.first_queue + i * descriptor.pitch + aperture)};
    for (unsigned i = 0; i < t->peers; ++i) {
        struct network_send_queue* s = &t->send_queues[i];
        s->head = s->retired = s->announced = s->consumer = 0;
        s->qp.number = 0;
        s->lkey = descriptor.peer[i].lkey;
        s->rkey = descriptor.peer[i].rkey;
        if (!descriptor.peer[i].qp) continue;
        copy_words(&s->qp, descriptor.peer[i].qp + aperture, sizeof s->qp);
        s->qp.send_queue += aperture;
        s->qp.send_doorbell_record += aperture;
        s->qp.doorbell += aperture;
        copy_words(&s->cq, descriptor.peer[i].cq + aperture, sizeof s->cq);
        s->cq.entries += aperture;
        s->cq.record += aperture;
    }
}

/* ---- requests that have ended ---- */

/* The entry's status first; read_index counts those in front of the first that has not ended. */
static void retire(struct network_service* t, unsigned queue, unsigned entry, uint32_t status) {
    struct network_consumer* q = &t->consumers[queue];
    const uint32_t mask = (1u << t->log_entries) - 1, before = q->retired;
    if (status && !q->queue->failed) *(volatile uint64_t*)&q->queue->failed = status;
    rdma_order();
    *(volatile uint32_t*)&q->queue->entry[entry].status = status;
    q->completed |= UINT64_C(1) << entry;
    for (; q->retired != q->consumed && q->completed >> (q->retired & mask) & 1; ++q->retired)
        q->completed &= ~(UINT64_C(1) << (q->retired & mask));
    if (q->retired == before) return;
    rdma_order();
    *(volatile uint64_t*)&q->queue->read_index = q->retired;
}

/* A completion stands for all sends of its queue pair up to it. */
static bool collect(struct network_service* t, struct network_send_queue* s) {
    struct rdma_completion c;
    if (!rdma_poll(&s->cq, &s->consumer, &c)) return false;
    const uint32_t retired = rdma_retired(&s->qp, s->retired, c.offset);
    for (; s->retired != retired; ++s->retired) {
        const unsigned owner = s->owner[s->retired & ((1u << s->qp.log_sq_size) - 1)];
        retire(t, owner >> 8, owner & 0xff,
               c.syndrome && s->retired + 1 == retired ? NETWORK_FAILED | c.syndrome : NETWORK_DONE);
    }
    return true;
}

/* ---- requests that begin ---- */

static unsigned opcode_of(unsigned operation) {
    switch (operation) {
        case NETWORK_GET: return HCA_OP_READ;
        case NETWORK_ADD: return HCA_OP_FETCH_ADD;
        case NETWORK_COMPARE_SWAP: return HCA_OP_COMPARE_SWAP;
        default: return HCA_OP_WRITE;
    }
}

static bool is_valid(const struct network_service* t, unsigned operation, unsigned peer, uint32_t bytes) {
    if (operation < NETWORK_PUT || operation > NETWORK_COMPARE_SWAP || peer >= t->peers ||
        !t->send_queues[peer].qp.number || !bytes)
        return false;
    return operation != NETWORK_PUT_DATA || bytes <= NETWORK_MAX_INLINE;
}

/* Writes the WQE for the adapter; ring() announces it. Every one has a completion of its own, so that none waits
 * for those behind it. */
static void write_wqe(struct network_send_queue* s, const struct network_queue_entry* e, unsigned owner) {
    const struct rdma_work_request work = {.opcode = opcode_of(e->operation),
                                           .signalled = true,
                                           .remote = e->remote,
                                           .rkey = s->rkey,
                                           .local = e->local,
                                           .lkey = s->lkey,
                                           .bytes = e->bytes,
                                           .swap_add = e->data[0],
                                           .compare = e->data[1]};
    unsigned size;
    if (e->operation == NETWORK_PUT_DATA)
        size = rdma_write_inline_wqe(&s->qp, s->head, &work, e->data[0], 0);
    else
        size = rdma_write_wqe(&s->qp, s->head, &work);
    rdma_link_wqe(&s->qp, s->head, work.opcode, false, size);
    if (s->head == s->announced) s->opcode = work.opcode, s->size = size;
    s->owner[s->head & ((1u << s->qp.log_sq_size) - 1)] = (uint16_t)owner;
    ++s->head;
}

/* What stands at the head of a queue. \returns false if nothing does, or there is no room for it yet */
static bool start_request(struct network_service* t, unsigned queue) {
    struct network_consumer* q = &t->consumers[queue];
    const uint32_t mask = (1u << t->log_entries) - 1, index = q->consumed & mask;
    struct network_queue_entry e;
    if (q->consumed - q->retired > mask) return false;
    const volatile uint64_t* from = (const volatile uint64_t*)&q->queue->entry[index];
    const uint64_t first = rdma_load64(from);
    if ((uint32_t)first != NETWORK_PENDING) return false;
    copy_words(&e, (uintptr_t)from, sizeof e); /* the status was seen with acquire, so the rest is there */
    const bool valid = is_valid(t, e.operation, e.peer, e.bytes);
    struct network_send_queue* s = &t->send_queues[e.peer];
    if (valid && s->head - s->retired >= 1u << s->qp.log_sq_size) return false;
    ++q->consumed;
    if (valid)
        write_wqe(s, &e, queue << 8 | index);
    else
        retire(t, queue, index, NETWORK_FAILED);
    return true;
}

/* One doorbell for all requests to a peer that a round has found. */
static void ring_doorbell(struct network_send_queue* s) {
    rdma_ring_doorbell(&s->qp, s->announced, s->head - s->announced, s->opcode, false, s->size);
    s->announced = s->head;
}

/* New requests go first: a work-group waits for each, but perhaps for no completion. */
bool network_service_poll(struct network_service* t) {
    bool progressed = false;
    rdma_acquire();
    for (unsigned i = 0; i < t->queues; ++i) progressed |= start_request(t, i);
    for (unsigned i = 0; i < t->peers; ++i) {
        struct network_send_queue* s = &t->send_queues[i];
        if (s->head != s->announced) ring_doorbell(s);
    }
    for (unsigned i = 0; i < t->peers; ++i)
        while (t->send_queues[i].head != t->send_queues[i].retired && collect(t, &t->send_queues[i])) progressed = true;
    return progressed;
}
