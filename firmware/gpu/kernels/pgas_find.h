/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that send only what they find: those of all nodes but the first look for multiples of a number in what they
 * have, and send them in active messages to the first one. Work-groups of a node share one queue pair, under a lock;
 * the first node has all of its queue pairs' receives in one completion queue. For lanes and for harts. */
#ifndef FABRICVP_GPU_KERNELS_PGAS_FIND_H
#define FABRICVP_GPU_KERNELS_PGAS_FIND_H

#include "arguments.h"
#include "gpu/pgas/active_message.h"
#include "gpu/pgas/workgroup.h"
#include "gpu/verbs/ticket_lock.h"

enum { FIND_NUMBERS_PER_MESSAGE = PGAS_MESSAGE_BYTES / 8 - 1 }; /* numbers, behind a word that says how many */
#define FIND_LAST (UINT64_C(1) << 32)                           /* in that word: this sender has no more */

struct pgas_find_arguments {
    POINTER(struct pgas_context) context; /* one for all senders */
    POINTER(struct rdma_ticket_lock) lock;
    POINTER(struct pgas_inbox) inbox; /* of the first node */
    POINTER(uint64_t) cycles;
    POINTER(const uint64_t) numbers; /* `count` for each sender */
    uint64_t
        messages; /* offset: space for all messages of all senders; at the first node, for the numbers of each node */
    uint32_t count, divisor;
    uint32_t groups; /* that send, of each node */
    uint32_t reserved;
    POINTER(uint32_t) received; /* at the first node: numbers, by node */
};

static inline uint32_t find_message_count(uint32_t numbers) { return numbers / FIND_NUMBERS_PER_MESSAGE + 1; }

/* Messages `from` to `to` of this sender, whose numbers have been written. */
RDMA_INLINE void find_send(const struct pgas_find_arguments* a, struct pgas_context* g, uint32_t from, uint32_t to,
                           uint32_t numbers, bool last) {
    const uint64_t first = a->messages + (uint64_t)wg_id() * find_message_count(a->count) * PGAS_MESSAGE_BYTES;
    for (uint32_t i = from; i < to; ++i) {
        const uint64_t at = first + (uint64_t)i * PGAS_MESSAGE_BYTES, left = numbers - i * FIND_NUMBERS_PER_MESSAGE;
        *(volatile uint64_t*)(uintptr_t)(g->link[g->comm.rank].data.at + at) =
            (left < FIND_NUMBERS_PER_MESSAGE ? left : FIND_NUMBERS_PER_MESSAGE) | (last && i + 1 == to ? FIND_LAST : 0);
        rdma_lock((struct rdma_ticket_lock*)(uintptr_t)a->lock);
        if (!g->failed && !pgas_send(&g->link[0], at, PGAS_MESSAGE_BYTES)) pgas_fail(g, 0, PGAS_SLOT_COMPLETION);
        rdma_unlock((struct rdma_ticket_lock*)(uintptr_t)a->lock);
    }
}

RDMA_INLINE void find_scan(const struct pgas_find_arguments* a, struct pgas_context* g, volatile uint32_t* found) {
    const uint64_t* const numbers = (const uint64_t*)(uintptr_t)a->numbers + (uint64_t)wg_id() * a->count;
    uint64_t* const messages = (uint64_t*)(uintptr_t)(g->link[g->comm.rank].data.at + a->messages) +
                               (uint64_t)wg_id() * find_message_count(a->count) * (PGAS_MESSAGE_BYTES / 8);
    uint32_t sent = 0;
    if (wg_is_leader()) *found = 0;
    wg_barrier();
    for (uint32_t base = 0; base < a->count; base += wg_size()) {
        const uint32_t i = base + wg_local_id();
        if (i < a->count && numbers[i] % a->divisor == 0) {
            const uint32_t place = wg_atomic_add(found, 1);
            messages[place / FIND_NUMBERS_PER_MESSAGE * (PGAS_MESSAGE_BYTES / 8) + 1 +
                     place % FIND_NUMBERS_PER_MESSAGE] = numbers[i];
        }
        rdma_order();
        wg_barrier();
        const uint32_t full = *found / FIND_NUMBERS_PER_MESSAGE;
        if (wg_is_leader() && full > sent) find_send(a, g, sent, full, *found, false);
        sent = full;
        wg_barrier();
    }
    if (!wg_is_leader()) return;
    find_send(a, g, sent, sent + 1, *found, true);
    rdma_lock((struct rdma_ticket_lock*)(uintptr_t)a->lock);
    if (!g->failed) pgas_flush_rank(g, 0);
    rdma_unlock((struct rdma_ticket_lock*)(uintptr_t)a->lock);
}

RDMA_INLINE void find_collect(const struct pgas_find_arguments* a, struct pgas_context* g) {
    struct pgas_inbox* const in = (struct pgas_inbox*)(uintptr_t)a->inbox;
    uint64_t* const numbers = (uint64_t*)(uintptr_t)(g->link[g->comm.rank].data.at + a->messages);
    uint32_t* const received = (uint32_t*)(uintptr_t)a->received;
    const uint32_t capacity = a->groups * a->count;
    struct pgas_active_message message;
    pgas_post_receives(g, in); /* earlier senders try again */
    for (uint32_t open = (g->comm.size - 1) * a->groups; open && pgas_receive(g, in, &message);) {
        const uint64_t head = rdma_load64(message.words);
        for (uint32_t i = 0; i < (uint32_t)head && received[message.rank] < capacity; ++i)
            numbers[(uint64_t)message.rank * capacity + received[message.rank]++] = rdma_load64(message.words + 1 + i);
        open -= (head & FIND_LAST) != 0;
        pgas_post_receive(g, in, message.rank);
    }
}

/* \param found shared by the work-items of a sender */
RDMA_INLINE void pgas_find_run(const struct pgas_find_arguments* a, volatile uint32_t* found) {
    struct pgas_context* const g = (struct pgas_context*)(uintptr_t)a->context; /* shared by all senders */
    const uint64_t begin = rdma_cycles();
    if (g->comm.rank)
        find_scan(a, g, found);
    else if (wg_id() == 0 && wg_is_leader())
        find_collect(a, g);
    if (wg_is_leader()) ((uint64_t*)(uintptr_t)a->cycles)[wg_id()] = rdma_cycles() - begin;
}

#endif
