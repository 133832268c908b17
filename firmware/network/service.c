/* SPDX-License-Identifier: Apache-2.0 */
#include "network/service.h"

#include <stddef.h>

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
    t->completed = t->unpublished = 0;
    t->unrung = t->unrecorded = 0;
    t->posted = t->several = 0;
    t->doorbells =
        descriptor.doorbells ? (struct network_doorbells*)(uintptr_t)(descriptor.doorbells + aperture) : NULL;
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

/* All stores so far are visible before those that follow. A round does this once for each kind of them, not for each
 * request. It is also the one behind the statuses of the last time: read_index counts entries whose status is visible,
 * since a producer that reuses one writes the same word. */
static void release(struct network_service* t) {
    rdma_order();
    for (unsigned i = 0; i < t->unpublished; ++i) {
        struct network_consumer* q = &t->consumers[t->unpublished_queues[i]];
        *(volatile uint64_t*)&q->queue->read_index = q->retired;
        q->unpublished = false;
    }
    t->unpublished = 0;
}

/* Its status waits for publish_completions(). */
static void complete(struct network_service* t, unsigned owner, uint32_t status) {
    struct network_queue* queue = t->consumers[owner >> 8].queue;
    if (status && !queue->failed) *(volatile uint64_t*)&queue->failed = status;
    t->completions[t->completed++] = (struct network_completion){(uint16_t)owner, (uint16_t)status};
}

static void write_status(struct network_service* t, const struct network_completion* c) {
    const unsigned queue = c->owner >> 8, entry = c->owner & 0xff;
    struct network_consumer* q = &t->consumers[queue];
    const uint32_t mask = (1u << t->log_entries) - 1, before = q->retired;
    *(volatile uint32_t*)&q->queue->entry[entry].status = c->status;
    q->completed |= UINT64_C(1) << entry;
    for (; q->retired != q->consumed && q->completed >> (q->retired & mask) & 1; ++q->retired)
        q->completed &= ~(UINT64_C(1) << (q->retired & mask));
    if (q->retired == before || q->unpublished) return;
    q->unpublished = true;
    t->unpublished_queues[t->unpublished++] = (uint8_t)queue;
}

/* Completions that were given back and words `failed` first, then statuses and the adapter's records. */
static void publish_completions(struct network_service* t) {
    release(t);
    for (unsigned i = 0; i < t->completed; ++i) write_status(t, &t->completions[i]);
    t->completed = 0;
    for (struct network_send_queue* s = t->send_queues; t->unrecorded; ++s, t->unrecorded >>= 1)
        if (t->unrecorded & 1) rdma_store_consumer_record(&s->cq, s->consumer);
}

/* A completion stands for all sends of its queue pair up to it. */
static bool collect(struct network_service* t, struct network_send_queue* s) {
    struct rdma_completion c;
    if (!rdma_take(&s->cq, &s->consumer, &c)) return false;
    t->unrecorded |= 1u << (s - t->send_queues);
    const uint32_t retired = rdma_retired(&s->qp, s->retired, c.offset);
    if (t->completed + (retired - s->retired) > NETWORK_MAX_COMPLETIONS) publish_completions(t);
    for (; s->retired != retired; ++s->retired)
        complete(t, s->owner[s->retired & ((1u << s->qp.log_sq_size) - 1)],
                 c.syndrome && s->retired + 1 == retired ? NETWORK_FAILED | c.syndrome : NETWORK_DONE);
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
        !t->send_queues[peer].qp.number || !bytes || bytes > NETWORK_MAX_BYTES)
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

enum found { NOTHING, NO_SPACE, STARTED };

/* What stands at the head of a queue. */
static enum found start_request(struct network_service* t, unsigned queue) {
    struct network_consumer* q = &t->consumers[queue];
    const uint32_t mask = (1u << t->log_entries) - 1, index = q->consumed & mask;
    struct network_queue_entry e;
    if (q->consumed - q->retired > mask) return NOTHING;
    const volatile uint64_t* from = (const volatile uint64_t*)&q->queue->entry[index];
    const uint64_t first = rdma_load64(from);
    if ((uint32_t)first != NETWORK_PENDING) return NOTHING;
    copy_words(&e, (uintptr_t)from, sizeof e); /* the status was seen with acquire, so the rest is there */
    const bool valid = is_valid(t, e.operation, e.peer, e.bytes);
    struct network_send_queue* s = &t->send_queues[e.peer];
    if (valid && s->head - s->retired >= 1u << s->qp.log_sq_size) return NO_SPACE;
    ++q->consumed;
    if (valid) {
        write_wqe(s, &e, queue << 8 | index);
        t->unrung |= 1u << e.peer;
    } else {
        complete(t, queue << 8 | index, NETWORK_FAILED);
    }
    return STARTED;
}

static bool start_polled(struct network_service* t) {
    bool started = false;
    for (unsigned i = 0; i < t->queues; ++i) started |= start_request(t, i) == STARTED;
    return started;
}

/* Entries are read behind the exchange, which is an acquire. */
static void take_doorbells(uint64_t* taken, uint64_t* word) {
    if (rdma_load64(word)) *taken |= __atomic_exchange_n(word, 0, __ATOMIC_ACQUIRE);
}

static bool start_posted(struct network_service* t) {
    bool started = false;
    take_doorbells(&t->posted, &t->doorbells->posted);
    take_doorbells(&t->several, &t->doorbells->several);
    uint64_t queues = t->posted | t->several; /* kernels may set any bit */
    for (unsigned i = 0; queues && i < t->queues; ++i, queues >>= 1) {
        if (!(queues & 1)) continue;
        const enum found found = start_request(t, i);
        started |= found == STARTED;
        const uint64_t bit = UINT64_C(1) << i;
        t->posted &= ~bit;
        if (found == NO_SPACE) t->several |= bit; /* another entry may set the bit of `posted` until there is space */
        if (found == NOTHING) t->several &= ~bit;
    }
    return started;
}

/* One doorbell for all requests to a peer that a round has found; entries for the adapter, then their records, then
 * doorbells. */
static void ring_doorbells(struct network_service* t) {
    release(t);
    uint32_t unrung = t->unrung;
    for (struct network_send_queue* s = t->send_queues; unrung; ++s, unrung >>= 1)
        if (unrung & 1) rdma_store_send_record(&s->qp, s->head);
    release(t);
    for (struct network_send_queue* s = t->send_queues; t->unrung; ++s, t->unrung >>= 1) {
        if (!(t->unrung & 1)) continue;
        rdma_store_doorbell(&s->qp, s->announced, s->head - s->announced, s->opcode, false, s->size);
        s->announced = s->head;
    }
}

/* New requests go first: a work-group waits for each, but perhaps for no completion. */
bool network_service_poll(struct network_service* t) {
    rdma_acquire();
    bool progressed = t->doorbells ? start_posted(t) : start_polled(t);
    if (t->unrung) ring_doorbells(t);
    for (unsigned i = 0; i < t->peers; ++i)
        while (t->send_queues[i].head != t->send_queues[i].retired && collect(t, &t->send_queues[i])) progressed = true;
    if (t->completed || t->unpublished) publish_completions(t);
    return progressed;
}
