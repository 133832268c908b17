/* SPDX-License-Identifier: Apache-2.0 */
/* How the host hears of a packet's end. */
#include "drivers/gpu/shared.h"
#include "lib/harts.h"
#include "lib/mmio.h"
#include "lib/timer.h"

enum { POLLS = 256 }; /* of a signal, until the device is asked whether it is well */

/* Why a packet will never complete; 0 if it may. */
static unsigned lost(const struct gpu_queue_handle* q, uint64_t packet) {
    const struct gpu* g = q->gpu;
    if (gpu_shared_was_reset(g)) return GPU_FAULT_ABORTED;
    if (mmio_read32(g->registers + GPU_CP_STATUS) == GPU_FIRMWARE_CRASHED) return GPU_FAULT_FIRMWARE;
    const uintptr_t entry = g->registers + GPU_SRAM_WINDOW + GPU_SRAM_QUEUES + q->index * sizeof(struct gpu_queue);
    if (mmio_read32(entry + offsetof(struct gpu_queue, acknowledged)) != GPU_QUEUE_ERROR) return 0;
    if (packet < mmio_read64(entry + offsetof(struct gpu_queue, stopped_at))) return 0;
    return mmio_read32(entry + offsetof(struct gpu_queue, error));
}

struct wait {
    const struct gpu_queue_handle* queue;
    uint64_t packet;
    int64_t value; /* of the signal, when it was read last: each read may have to fetch what the GPU wrote */
    unsigned problem;
};

static bool over(void* context) {
    struct wait* w = context;
    w->value = gpu_signal(w->queue, w->packet)->value;
    if (w->value <= 0) return true;
    w->problem = lost(w->queue, w->packet);
    return w->problem != 0;
}

static bool poll(struct wait* w, uint64_t microseconds) {
    const volatile struct aql_signal* s = gpu_signal(w->queue, w->packet);
    const uint64_t begin = timer_now();
    do {
        for (unsigned i = 0; i < POLLS; ++i) {
            w->value = s->value;
            if (w->value <= 0) return true;
            relax();
        }
        if (over(w)) return true;
    } while (timer_wait_more(begin, microseconds));
    return false;
}

unsigned gpu_wait(struct gpu_queue_handle* q, uint64_t packet) {
    struct wait w = {q, packet, 1, 0};
    const bool completed =
        q->gpu->delivery == PCI_POLLED ? poll(&w, q->node->limit_us) : timer_wait_for(over, &w, q->node->limit_us);
    __asm__ volatile("fence r, rw" ::: "memory");
    const int64_t value = w.value > 0 ? gpu_signal(q, packet)->value : w.value;
    if (value <= 0) {
        gpu_note_completed(q, packet);
        return (unsigned)-value;
    }
    return completed ? w.problem : GPU_TIMED_OUT;
}
