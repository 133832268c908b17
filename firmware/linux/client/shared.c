/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/gpu/shared.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "drivers/gpu/pages.h"
#include "lib/heap.h"
#include "linux/client/client.h"

static uint64_t queues[MAX_GPUS]; /* bit n: queue n is this process's */
static uint32_t copying;          /* bits 2 n, 2 n + 1: directions of GPU n in which a copy is under way */

unsigned gpu_shared_space(void) { return client_opened.space; }
uint64_t gpu_shared_root(void) { return client_opened.root; }

/* ---- memory ---- */

bool gpu_shared_take(struct gpu* g, uint64_t count, bool contiguous) {
    struct broker_message m = {.kind = BROKER_PAGES, .gpu = g->index, .flag = contiguous, .value = count};
    if (!client_ask(&m)) return false;
    for (uint32_t i = 0; i < m.count; ++i) gpu_return_pages(g, m.range[i].at, m.range[i].bytes);
    return true;
}

uint64_t gpu_shared_free_bytes(const struct gpu* g) {
    struct broker_message m = {.kind = BROKER_FREE_BYTES, .gpu = g->index};
    return client_ask(&m) ? m.value : 0;
}

void gpu_shared_give(struct gpu* g) {
    struct broker_message m;
    do {
        m = (struct broker_message){.kind = BROKER_RETURN_PAGES, .gpu = g->index};
        for (uint64_t offset, bytes; m.count < BROKER_MAX_RANGES && gpu_untake_large_pages(g, &offset, &bytes);)
            m.range[m.count++] = (struct broker_range){offset, bytes};
    } while (m.count && client_ask(&m));
}

/* ---- queues ---- */

bool gpu_shared_take_queue(struct gpu* g) {
    if (~g->queues) return true; /* one that was taken, and not used */
    struct broker_message m = {.kind = BROKER_QUEUE, .gpu = g->index};
    if (!client_ask(&m)) return false;
    queues[g->index] |= UINT64_C(1) << m.value;
    g->queues &= ~(UINT64_C(1) << m.value);
    return true;
}

/* Faults of it may still be told of. */
void gpu_shared_give_queue(struct gpu* g, unsigned queue) {
    struct broker_message m = {.kind = BROKER_RETURN_QUEUE, .gpu = g->index, .value = queue};
    client_ask(&m);
    queues[g->index] &= ~(UINT64_C(1) << queue);
}

bool gpu_shared_owns_queue(const struct gpu* g, unsigned queue) {
    return queue < GPU_QUEUES && queues[g->index] >> queue & 1;
}

/* ---- what became of them ---- */

unsigned gpu_shared_fault(const struct gpu* g, unsigned fault) {
    static uint32_t known;
    (void)g;
    const uint32_t ended = client_shared->timed_out[client_opened.space];
    if (fault != GPU_FAULT_ABORTED || ended == known) return fault;
    known = ended;
    return GPU_TIMED_OUT;
}

bool gpu_shared_was_reset(const struct gpu* g) {
    return client_shared->resets[g->index] != client_opened.gpu[g->index].resets;
}

/* ---- copy engines ---- */

static uint32_t direction(const struct gpu* g, bool to_device) { return UINT32_C(1) << (2 * g->index + to_device); }

bool gpu_shared_lock_copies(const struct gpu* g, bool to_device) {
    const uint32_t self = client_opened.space + 1;
    for (uint32_t none = 0; !copying && !__atomic_compare_exchange_n(&client_shared->copies, &none, self, false,
                                                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
         none = 0)
        sched_yield();
    copying |= direction(g, to_device);
    const bool other = client_shared->last[g->index] != self;
    client_shared->last[g->index] = self;
    return other;
}

void gpu_shared_unlock_copies(const struct gpu* g, bool to_device) {
    const uint32_t were = copying;
    copying &= ~direction(g, to_device);
    if (were && !copying) __atomic_store_n(&client_shared->copies, 0, __ATOMIC_RELEASE);
}

/* ---- waiting ---- */

bool gpu_shared_has_interrupts(void) { return client_shared && client_shared->has_interrupts; }

uint32_t gpu_shared_interrupts(void) { return __atomic_load_n(&client_shared->interrupts, __ATOMIC_ACQUIRE); }

void gpu_shared_sleep(uint32_t interrupts, uint64_t microseconds) {
    const struct timespec limit = {(time_t)(microseconds / 1000000), (long)(microseconds % 1000000) * 1000};
    syscall(SYS_futex, &client_shared->interrupts, FUTEX_WAIT, interrupts, &limit, NULL, 0);
}

void gpu_shared_yield(void) { sched_yield(); }
