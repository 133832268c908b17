/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/pgas_find.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/pattern.h"
#include "lib/result.h"
#include "programs/pgas/workloads.h"

static void on_hart(const void* arguments) {
    static volatile uint32_t found;
    pgas_find_run(arguments, &found);
}

static uint64_t number_of(unsigned rank, uint64_t index) { return pattern_word(rank + 100, index) >> 1; }

static void* allocate(uint64_t bytes) {
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
static bool is_complete(const struct pgas_runtime* w, unsigned rank, uint64_t* got, uint32_t received, uint32_t numbers,
                        uint32_t divisor) {
    uint64_t* expected = allocate(8ull * numbers);
    uint32_t count = 0;
    for (uint32_t i = 0; i < numbers; ++i)
        if (number_of(rank, i) % divisor == 0) expected[count++] = number_of(rank, i);
    sort(expected, count);
    sort(got, received);
    const bool ok = received == count && memcmp(got, expected, 8ull * count) == 0;
    if (!ok) {
        console_printf("of rank %u: %u numbers, %u expected\n", rank, received, count);
    } else {
        result_begin("found");
        result_u64("rank", rank);
        result_u64("numbers", numbers);
        result_u64("found", count);
        result_u64("callers", w->callers);
        result_end();
    }
    heap_free(expected);
    return ok;
}

bool find_run(struct pgas_runtime* w, uint32_t count, uint32_t divisor) {
    const unsigned ranks = w->bootstrap->comm.size, groups = w->callers;
    const uint32_t all = groups * count;
    const uint64_t messages = (uint64_t)groups * find_message_count(count) * PGAS_MESSAGE_BYTES,
                   lists = 8ull * ranks * all;
    pgas_runtime_open(w, messages > lists ? messages : lists);
    const struct rdma_buffer cycles = pgas_runtime_allocate(w, 8ull * groups),
                             lock = pgas_runtime_allocate(w, sizeof(struct rdma_ticket_lock)),
                             received = pgas_runtime_allocate(w, 4 * PGAS_MAX_RANKS),
                             numbers = pgas_runtime_allocate(w, 8ull * all);
    uint64_t* words = allocate(8ull * all);
    for (uint32_t i = 0; i < all; ++i) words[i] = number_of(w->bootstrap->comm.rank, i);
    rdma_buffer_write(w->node, &numbers, 0, words, 8ull * all);
    const struct pgas_find_arguments a = {.context = pgas_runtime_address(w, &w->contexts),
                                          .lock = pgas_runtime_address(w, &lock),
                                          .inbox = pgas_runtime_address(w, &w->inbox),
                                          .cycles = pgas_runtime_address(w, &cycles),
                                          .numbers = pgas_runtime_address(w, &numbers),
                                          .messages = 0,
                                          .count = count,
                                          .divisor = divisor,
                                          .groups = groups,
                                          .received = pgas_runtime_address(w, &received)};
    const struct pgas_workload work = {"pgas_find", on_hart, &a, sizeof a};
    bool ok = pgas_runtime_run(w, &work);
    for (unsigned rank = 1; rank < ranks && !w->bootstrap->comm.rank && ok; ++rank) {
        uint32_t got[PGAS_MAX_RANKS];
        rdma_buffer_read(w->node, got, &received, 0, sizeof got);
        if (got[rank] > all) panic("find: %u numbers of rank %u", got[rank], rank);
        rdma_buffer_read(w->node, words, &w->segment, 8ull * rank * all, 8ull * all);
        ok = is_complete(w, rank, words, got[rank], all, divisor) && ok;
    }
    pgas_runtime_report(w, "find", "all", &cycles, 0, 1, groups);
    heap_free(words);
    return ok;
}
