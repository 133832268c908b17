/* SPDX-License-Identifier: Apache-2.0 */
#include "network/service.h"

static void copy_words(void* to, uint64_t from, unsigned bytes) {
    for (unsigned i = 0; i < bytes / 8; ++i)
        ((uint64_t*)to)[i] = rdma_load64((const volatile uint64_t*)(uintptr_t)from + i);
}

void network_begin(struct network_thread* t, const struct network_duty* from, uint64_t aperture) {
    struct network_duty duty;
    rdma_acquire();
    copy_words(&duty, (uintptr_t)from, sizeof duty);
    t->queues = duty.queues;
    t->log_entries = duty.log_entries;
    t->peers = duty.peers;
    for (unsigned i = 0; i < t->queues; ++i)
        t->served[i] = (struct network_served){
            .queue = (struct network_queue*)(uintptr_t)(duty.first_queue + i * duty.pitch + aperture)};
    for (unsigned i = 0; i < t->peers; ++i) {
        struct network_sends* s = &t->sends[i];
        s->head = s->ended = s->rung = s->consumer = 0;
        s->pair.number = 0;
        s->lkey = duty.peer[i].lkey;
        s->rkey = duty.peer[i].rkey;
        if (!duty.peer[i].pair) continue;
        copy_words(&s->pair, duty.peer[i].pair + aperture, sizeof s->pair);
        s->pair.sends += aperture;
        s->pair.send_record += aperture;
        s->pair.doorbell += aperture;
        copy_words(&s->cq, duty.peer[i].cq + aperture, sizeof s->cq);
        s->cq.entries += aperture;
        s->cq.record += aperture;
    }
}

/* ---- requests that have ended ---- */

/* The entry's status first; read_index counts those in front of the first that has not ended. */
static void retire(struct network_thread* t, unsigned queue, unsigned entry, uint32_t status) {
    struct network_served* q = &t->served[queue];
    const uint32_t mask = (1u << t->log_entries) - 1, before = q->free;
    if (status && !q->queue->failed) *(volatile uint64_t*)&q->queue->failed = status;
    rdma_order();
    *(volatile uint32_t*)&q->queue->entry[entry].status = status;
    q->ended |= UINT64_C(1) << entry;
    for (; q->free != q->taken && q->ended >> (q->free & mask) & 1; ++q->free)
        q->ended &= ~(UINT64_C(1) << (q->free & mask));
    if (q->free == before) return;
    rdma_order();
    *(volatile uint64_t*)&q->queue->read_index = q->free;
}

/* A completion stands for all sends of its queue pair up to it. */
static bool collect(struct network_thread* t, struct network_sends* s) {
    struct rdma_completion c;
    if (!rdma_poll(&s->cq, &s->consumer, &c)) return false;
    const uint32_t ended = rdma_ended(&s->pair, s->ended, c.offset);
    for (; s->ended != ended; ++s->ended) {
        const unsigned owner = s->owner[s->ended & ((1u << s->pair.log_sends) - 1)];
        retire(t, owner >> 8, owner & 0xff,
               c.syndrome && s->ended + 1 == ended ? NETWORK_FAILED | c.syndrome : NETWORK_DONE);
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

static bool makes_sense(const struct network_thread* t, unsigned operation, unsigned peer, uint32_t bytes) {
    if (operation < NETWORK_PUT || operation > NETWORK_COMPARE_SWAP || peer >= t->peers ||
        !t->sends[peer].pair.number || !bytes)
        return false;
    return operation != NETWORK_PUT_DATA || bytes <= NETWORK_MOST_DATA;
}

/* Writes the entry for the adapter; ring() announces it. Every one has a completion of its own, so that nobody waits
 * for what comes behind. */
static void write(struct network_sends* s, const struct network_entry* e, unsigned owner) {
    const struct rdma_work work = {.opcode = opcode_of(e->operation),
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
        size = rdma_write_inline(&s->pair, s->head, &work, e->data[0], 0);
    else
        size = rdma_write_entry(&s->pair, s->head, &work);
    rdma_link(&s->pair, s->head, work.opcode, false, size);
    if (s->head == s->rung) s->opcode = work.opcode, s->size = size;
    s->owner[s->head & ((1u << s->pair.log_sends) - 1)] = (uint16_t)owner;
    ++s->head;
}

/* What stands at the head of a queue. \returns false if nothing does, or there is no room for it yet */
static bool take(struct network_thread* t, unsigned queue) {
    struct network_served* q = &t->served[queue];
    const uint32_t mask = (1u << t->log_entries) - 1, index = q->taken & mask;
    struct network_entry e;
    if (q->taken - q->free > mask) return false;
    const volatile uint64_t* from = (const volatile uint64_t*)&q->queue->entry[index];
    const uint64_t first = rdma_load64(from);
    if ((uint32_t)first != NETWORK_PENDING) return false;
    copy_words(&e, (uintptr_t)from, sizeof e); /* the status was seen with acquire, so the rest is there */
    const bool right = makes_sense(t, e.operation, e.peer, e.bytes);
    struct network_sends* s = &t->sends[e.peer];
    if (right && s->head - s->ended >= 1u << s->pair.log_sends) return false;
    ++q->taken;
    if (right)
        write(s, &e, queue << 8 | index);
    else
        retire(t, queue, index, NETWORK_FAILED);
    return true;
}

/* One doorbell for all requests to a peer that a round has found. */
static void ring(struct network_sends* s) {
    rdma_ring(&s->pair, s->rung, s->head - s->rung, s->opcode, false, s->size);
    s->rung = s->head;
}

/* What is asked for goes first: somebody waits for it, while of what has ended nobody may. */
bool network_serve(struct network_thread* t) {
    bool any = false;
    rdma_acquire();
    for (unsigned i = 0; i < t->queues; ++i) any |= take(t, i);
    for (unsigned i = 0; i < t->peers; ++i) {
        struct network_sends* s = &t->sends[i];
        if (s->head != s->rung) ring(s);
    }
    for (unsigned i = 0; i < t->peers; ++i)
        while (t->sends[i].head != t->sends[i].ended && collect(t, &t->sends[i])) any = true;
    return any;
}
