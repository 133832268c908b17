/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/pgas_find.h"
#include "host/console.h"
#include "host/heap.h"
#include "host/machine.h"
#include "host/pgas/works.h"
#include "pcie_demo/pattern.h"

static void on_hart(const void* arguments) {
    static volatile uint32_t found;
    pgas_find_run(arguments, &found);
}

static uint64_t number_of(unsigned rank, uint64_t index) { return pattern_word(rank + 100, index) >> 1; }

static void* room(uint64_t bytes) {
    void* at = heap_allocate(bytes);
    if (!at) panic("find: out of memory");
    return at;
}

static void sort(uint64_t* at, uint32_t count) {
    for (uint32_t gap = count / 2; gap; gap /= 2)
        for (uint32_t i = gap; i < count; ++i) {
            const uint64_t value = at[i];
            uint32_t k = i;
            for (; k >= gap && at[k - gap] > value; k -= gap) at[k] = at[k - gap];
            at[k] = value;
        }
}

/* The first node has each number that there was to be found at `rank` once. */
static bool is_complete(const struct world* w, unsigned rank, uint64_t* got, uint32_t received, uint32_t numbers,
                        uint32_t divisor) {
    uint64_t* expected = room(8ull * numbers);
    uint32_t count = 0;
    for (uint32_t i = 0; i < numbers; ++i)
        if (number_of(rank, i) % divisor == 0) expected[count++] = number_of(rank, i);
    sort(expected, count);
    sort(got, received);
    const bool right = received == count && memcmp(got, expected, 8ull * count) == 0;
    if (!right)
        console_printf("of rank %u: %u numbers, %u expected\n", rank, received, count);
    else
        console_printf("# find %u of %u numbers of rank %u, %u callers\n", count, numbers, rank, w->callers);
    heap_free(expected);
    return right;
}

bool find_run(struct world* w, uint32_t count, uint32_t divisor) {
    const unsigned ranks = w->party->count, teams = w->callers;
    const uint32_t all = teams * count;
    const uint64_t letters = (uint64_t)teams * find_letters(count) * PGAS_LETTER, lists = 8ull * ranks * all;
    world_open(w, letters > lists ? letters : lists);
    const struct place cycles = world_take(w, 8ull * teams), lock = world_take(w, sizeof(struct rdma_ticket)),
                       received = world_take(w, 4 * PGAS_MOST_RANKS), numbers = world_take(w, 8ull * all);
    uint64_t* words = room(8ull * all);
    for (uint32_t i = 0; i < all; ++i) words[i] = number_of(w->party->index, i);
    place_write(w->node, &numbers, 0, words, 8ull * all);
    const struct pgas_find_arguments a = {.group = world_at(w, &w->groups),
                                          .lock = world_at(w, &lock),
                                          .inbox = world_at(w, &w->inbox),
                                          .cycles = world_at(w, &cycles),
                                          .numbers = world_at(w, &numbers),
                                          .letters = 0,
                                          .count = count,
                                          .divisor = divisor,
                                          .teams = teams,
                                          .received = world_at(w, &received)};
    const struct world_work work = {"pgas_find", on_hart, &a, sizeof a};
    bool right = world_run(w, &work);
    for (unsigned rank = 1; rank < ranks && !w->party->index && right; ++rank) {
        uint32_t got[PGAS_MOST_RANKS];
        place_read(w->node, got, &received, 0, sizeof got);
        if (got[rank] > all) panic("find: %u numbers of rank %u", got[rank], rank);
        place_read(w->node, words, &w->segment, 8ull * rank * all, 8ull * all);
        right = is_complete(w, rank, words, got[rank], all, divisor) && right;
    }
    world_report(w, "find", "letters", &cycles, 0, 1, teams);
    heap_free(words);
    return right;
}
