/* SPDX-License-Identifier: Apache-2.0 */
/* The work-group's end of a queue of requests. One lane uses it, for all of its group. */
#ifndef FABRICVP_NETWORK_PRODUCER_H
#define FABRICVP_NETWORK_PRODUCER_H

#include <stdbool.h>

#include "abi/network_queue.h"

struct network_producer {
    struct network_queue* queue;
    uint32_t log_entries;
    uint32_t write, read;               /* written; known to be free again: counters */
    uint32_t closed;                    /* status of what could not be written any more; 0: nothing */
    const struct network_access* rings; /* what has the doorbells; NULL: there are none */
};
enum { NETWORK_POLLS_PER_CHECK = 64 }; /* of the awaited word, until one of the service's state */

GPU_INLINE struct network_producer network_producer(const struct network_access* a) {
    struct network_producer p = {.queue = (struct network_queue*)(uintptr_t)a->queue,
                                 .log_entries = a->log_entries,
                                 .rings = a->doorbells ? a : NULL};
    p.write = p.read = (uint32_t)load_scoped_u64(&p.queue->read_index);
    return p;
}

/* Whether an entry is free, by what is known; if not, by what the consumer says now. */
GPU_INLINE bool network_has_space(struct network_producer* p) {
    if (p->write - p->read < 1u << p->log_entries) return true;
    p->read = (uint32_t)load_scoped_u64(&p->queue->read_index);
    return p->write - p->read < 1u << p->log_entries;
}

/* \returns whether the queue's service has ended. Its requests fail then. */
GPU_INLINE bool network_is_closed(struct network_producer* p) {
    return (p->closed = (uint32_t)load_scoped_u64(&p->queue->closed)) != 0;
}

/* Behind an entry's status. The queue and its doorbells are in this GPU's memory. */
GPU_INLINE void network_ring(const struct network_access* a) {
    struct network_doorbells* doorbells = (struct network_doorbells*)(uintptr_t)a->doorbells;
    const uint64_t bit = UINT64_C(1) << a->doorbell;
    fence_release(GPU_SCOPE_AGENT);
    if (atomic_or_u64(&doorbells->posted, bit) & bit) atomic_or_u64(&doorbells->several, bit);
}

/* Waits for room, writes the request and gives it to the consumer, with all that this lane has stored before. \returns
 * its number, for network_wait_entry() */
GPU_INLINE uint32_t network_post(struct network_producer* p, unsigned operation, unsigned peer, uint64_t local,
                                 uint64_t remote, uint32_t bytes, uint64_t data0, uint64_t data1) {
    for (uint32_t polls = 1; !network_has_space(p); ++polls) {
        if (p->closed || (polls % NETWORK_POLLS_PER_CHECK == 0 && network_is_closed(p))) return p->write;
        gpu_pause();
    }
    volatile struct network_queue_entry* e = &p->queue->entry[p->write & ((1u << p->log_entries) - 1)];
    e->local = local;
    e->remote = remote;
    e->data[0] = data0;
    e->data[1] = data1;
    *(volatile uint64_t*)&e->bytes = bytes;
    store_release((uint64_t*)e, NETWORK_PENDING | (uint64_t)operation << 32 | (uint64_t)peer << 48, GPU_SCOPE_SYSTEM);
    if (p->rings) network_ring(p->rings);
    return p->write++;
}
/* Waits until a request has ended. \returns NETWORK_DONE, or why it failed; once the entry serves another request, of
 * any */
GPU_INLINE uint32_t network_wait_entry(struct network_producer* p, uint32_t request) {
    volatile struct network_queue_entry* e = &p->queue->entry[request & ((1u << p->log_entries) - 1)];
    if (p->write - request > 1u << p->log_entries) return (uint32_t)load_scoped_u64(&p->queue->failed);
    if (p->closed) return p->closed;
    uint32_t status;
    for (uint32_t polls = 1; (status = load_scoped_u32(&e->status)) == NETWORK_PENDING; ++polls) {
        if (polls % NETWORK_POLLS_PER_CHECK == 0 && network_is_closed(p)) return p->closed;
        gpu_pause();
    }
    fence_acquire(GPU_SCOPE_SYSTEM);
    return status;
}
/* Waits until all requests have ended, or their service has ended. \returns NETWORK_DONE, or why the first that
 * ever failed did */
GPU_INLINE uint32_t network_drain(struct network_producer* p) {
    for (uint32_t polls = 1; (p->read = (uint32_t)load_scoped_u64(&p->queue->read_index)) != p->write; ++polls) {
        if (polls % NETWORK_POLLS_PER_CHECK == 0 && network_is_closed(p)) return p->closed;
        gpu_pause();
    }
    fence_acquire(GPU_SCOPE_SYSTEM);
    return (uint32_t)load_scoped_u64(&p->queue->failed);
}

#endif
