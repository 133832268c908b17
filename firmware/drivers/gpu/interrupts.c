/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts of GPUs, by PCIe or by an APU's line. */
#include "drivers/gpu/gpu.h"
#include "lib/mmio.h"
#include "lib/traps.h"

enum { EXTERNAL = 11 };

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
