/* SPDX-License-Identifier: Apache-2.0 */
/* How the host hears of a packet's end. */
#include "drivers/gpu/gpu.h"
#include "lib/mmio.h"
#include "lib/timer.h"
#include "lib/traps.h"

enum { EXTERNAL = 11 };
enum { POLLS = 256 }; /* of a signal, until the device is asked whether it is well */

static void on_interrupt(void* context, int vector) {
    struct gpu* g = context;
    const uint32_t causes = vector == PCI_ANY_VECTOR ? mmio_read32(g->registers + GPU_INTERRUPT) : 1u << vector;
    mmio_write32(g->registers + GPU_INTERRUPT, causes);
    for (unsigned v = 0; v < GPU_VECTORS; ++v) g->interrupts[v] += causes >> v & 1;
    if (causes >> GPU_VECTOR_SDMA & 1) gpu_copy_interrupted(g);
}

/* An APU has a line of its own. */
static struct gpu* on_lines[MAX_GPUS];

static void on_line(unsigned source) {
    for (unsigned i = 0; i < MAX_GPUS; ++i)
        if (on_lines[i] && on_lines[i]->interrupt == source) on_interrupt(on_lines[i], PCI_ANY_VECTOR);
}

static enum pci_delivery use_line(struct gpu* g, enum pci_delivery best) {
    const bool requested = best != PCI_POLLED && g->interrupt && external_available(g->interrupt);
    on_lines[g->index] = requested ? g : NULL;
    if (g->interrupt && external_available(g->interrupt)) external_handle(g->interrupt, requested ? on_line : NULL);
    if (requested) interrupt_enable(EXTERNAL, true);
    return requested ? PCI_INTX : PCI_POLLED;
}

enum pci_delivery gpu_use_interrupts(struct gpu* g, enum pci_delivery best) {
    if (g->function && g->delivery != PCI_POLLED) pci_disconnect(g->function, g);
    mmio_write32(g->registers + GPU_INTERRUPT, ~0u);
    if (!g->function) return g->delivery = use_line(g, best);
    return g->delivery = pci_connect(g->function, GPU_VECTORS, best, on_interrupt, g);
}

/* Why a packet will never complete; 0 if it may. */
static unsigned lost(const struct gpu_queue_handle* q, uint64_t packet) {
    const struct gpu* g = q->gpu;
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
            __asm__ volatile("pause");
        }
        if (over(w)) return true;
    } while (timer_microseconds(timer_now() - begin) < microseconds);
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
