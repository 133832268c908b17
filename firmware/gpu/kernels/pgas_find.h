/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that send only what they find: those of all nodes but the first look for multiples of a number in what they
 * have, and send them in letters to the first one. Work-groups of a node share one queue pair, under a lock; the first
 * node has all of its queue pairs' receives in one completion queue. For lanes and for harts. */
#ifndef FABRICVP_GPU_KERNELS_PGAS_FIND_H
#define FABRICVP_GPU_KERNELS_PGAS_FIND_H

#include "arguments.h"
#include "gpu/pgas/passive.h"
#include "gpu/pgas/team.h"
#include "gpu/verbs/ticket.h"

enum { FIND_A_LETTER = PGAS_LETTER / 8 - 1 }; /* numbers, behind a word that says how many */
#define FIND_LAST (UINT64_C(1) << 32)         /* in that word: this team has no more */

struct pgas_find_arguments {
    POINTER(struct pgas_group) group; /* one for all teams */
    POINTER(struct rdma_ticket) lock;
    POINTER(struct pgas_inbox) inbox; /* of the first node */
    POINTER(uint64_t) cycles;
    POINTER(const uint64_t) numbers; /* `count` for each team */
    uint64_t letters; /* offset: room for all letters of all teams; at the first node, for the numbers of each node */
    uint32_t count, divisor;
    uint32_t teams; /* that send, of each node */
    uint32_t reserved;
    POINTER(uint32_t) received; /* at the first node: numbers, by node */
};

static inline uint32_t find_letters(uint32_t numbers) { return numbers / FIND_A_LETTER + 1; }

/* Letters `from` to `to` of the team, whose numbers have been written. */
RDMA_INLINE void find_send(const struct pgas_find_arguments* a, struct pgas_group* g, uint32_t from, uint32_t to,
                           uint32_t numbers, bool last) {
    const uint64_t first = a->letters + (uint64_t)team_number() * find_letters(a->count) * PGAS_LETTER;
    for (uint32_t i = from; i < to; ++i) {
        const uint64_t at = first + (uint64_t)i * PGAS_LETTER, left = numbers - i * FIND_A_LETTER;
        *(volatile uint64_t*)(uintptr_t)(g->link[g->rank].data.at + at) =
            (left < FIND_A_LETTER ? left : FIND_A_LETTER) | (last && i + 1 == to ? FIND_LAST : 0);
        rdma_lock((struct rdma_ticket*)(uintptr_t)a->lock);
        if (!g->failed && !pgas_send(&g->link[0], at, PGAS_LETTER)) pgas_give_up(g, 0, PGAS_ENDING);
        rdma_unlock((struct rdma_ticket*)(uintptr_t)a->lock);
    }
}

RDMA_INLINE void find_scan(const struct pgas_find_arguments* a, struct pgas_group* g, volatile uint32_t* found) {
    const uint64_t* const numbers = (const uint64_t*)(uintptr_t)a->numbers + (uint64_t)team_number() * a->count;
    uint64_t* const letters = (uint64_t*)(uintptr_t)(g->link[g->rank].data.at + a->letters) +
                              (uint64_t)team_number() * find_letters(a->count) * (PGAS_LETTER / 8);
    uint32_t sent = 0;
    if (team_leads()) *found = 0;
    team_meet();
    for (uint32_t base = 0; base < a->count; base += team_size()) {
        const uint32_t i = base + team_index();
        if (i < a->count && numbers[i] % a->divisor == 0) {
            const uint32_t place = team_add(found, 1);
            letters[place / FIND_A_LETTER * (PGAS_LETTER / 8) + 1 + place % FIND_A_LETTER] = numbers[i];
        }
        rdma_order();
        team_meet();
        const uint32_t full = *found / FIND_A_LETTER;
        if (team_leads() && full > sent) find_send(a, g, sent, full, *found, false);
        sent = full;
        team_meet();
    }
    if (!team_leads()) return;
    find_send(a, g, sent, sent + 1, *found, true);
    rdma_lock((struct rdma_ticket*)(uintptr_t)a->lock);
    if (!g->failed) pgas_settle(g, 0);
    rdma_unlock((struct rdma_ticket*)(uintptr_t)a->lock);
}

RDMA_INLINE void find_collect(const struct pgas_find_arguments* a, struct pgas_group* g) {
    struct pgas_inbox* const in = (struct pgas_inbox*)(uintptr_t)a->inbox;
    uint64_t* const numbers = (uint64_t*)(uintptr_t)(g->link[g->rank].data.at + a->letters);
    uint32_t* const received = (uint32_t*)(uintptr_t)a->received;
    const uint32_t room = a->teams * a->count;
    struct pgas_letter letter;
    pgas_open_inbox(g, in); /* those who were sooner try again */
    for (uint32_t open = (g->ranks - 1) * a->teams; open && pgas_receive(g, in, &letter);) {
        const uint64_t head = rdma_load64(letter.words);
        for (uint32_t i = 0; i < (uint32_t)head && received[letter.rank] < room; ++i)
            numbers[(uint64_t)letter.rank * room + received[letter.rank]++] = rdma_load64(letter.words + 1 + i);
        open -= (head & FIND_LAST) != 0;
        pgas_give_back(g, in, letter.rank);
    }
}

/* \param found of the team: what it shares */
RDMA_INLINE void pgas_find_run(const struct pgas_find_arguments* a, volatile uint32_t* found) {
    struct pgas_group* const g = (struct pgas_group*)(uintptr_t)a->group; /* where all teams have it */
    const uint64_t begin = rdma_cycles();
    if (g->rank)
        find_scan(a, g, found);
    else if (team_number() == 0 && team_leads())
        find_collect(a, g);
    if (team_leads()) ((uint64_t*)(uintptr_t)a->cycles)[team_number()] = rdma_cycles() - begin;
}

#endif
