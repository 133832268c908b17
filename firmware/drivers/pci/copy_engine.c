/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/pci/copy_engine.h"

#include "lib/heap.h"
#include "lib/mmio.h"

/* With MSI-X the vector tells channel and cause. With the pin the causes do, and they must be gone from the line before
 * the interrupt controller looks again: the read comes back behind the message that lowers it. */
static void on_interrupt(void* context, int vector) {
    struct copy_engine* e = context;
    if (vector != PCI_ANY_VECTOR) {
        struct copy_channel* c = &e->channel[(unsigned)vector / COPY_ENGINE_VECTORS];
        const uint32_t cause = 1u << (unsigned)vector % COPY_ENGINE_VECTORS;
        mmio_write32(c->registers + COPY_ENGINE_INTERRUPT, cause);
        copy_channel_interrupted(c, cause);
        return;
    }
    const uint32_t pending = mmio_read32(e->registers + COPY_ENGINE_PENDING);
    for (unsigned i = 0; i < e->channels; ++i) {
        if (!(pending >> i & 1)) continue;
        struct copy_channel* c = &e->channel[i];
        const uint32_t causes = mmio_read32(c->registers + COPY_ENGINE_INTERRUPT);
        mmio_write32(c->registers + COPY_ENGINE_INTERRUPT, causes);
        copy_channel_interrupted(c, causes);
    }
    if (pending) mmio_read32(e->registers + COPY_ENGINE_PENDING);
}

bool copy_engine_open(struct copy_engine* e, struct pci_function* f, enum pci_delivery best) {
    *e = (struct copy_engine){.function = f};
    if (!pci_enable(f)) return false;
    e->registers = pci_bar(f, COPY_ENGINE_BAR_REGISTERS);
    e->aperture = pci_bar(f, COPY_ENGINE_BAR_MEMORY);
    e->memory = f->bars[COPY_ENGINE_BAR_MEMORY].address;
    if (!e->registers || !e->aperture) return false;
    e->memory_size = mmio_read64(e->registers + COPY_ENGINE_MEMORY_SIZE);
    e->channels = mmio_read32(e->registers + COPY_ENGINE_CHANNELS);
    if (e->channels == 0 || e->channels > COPY_ENGINE_MAX_CHANNELS) return false;
    e->channel = heap_allocate(e->channels * sizeof *e->channel);
    if (!e->channel) return false;
    for (unsigned i = 0; i < e->channels; ++i)
        if (!copy_channel_open(&e->channel[i], e->registers + i * COPY_ENGINE_CHANNEL_STRIDE, &e->delivery))
            return false;
    e->delivery = pci_connect(f, e->channels * COPY_ENGINE_VECTORS, best, on_interrupt, e);
    return true;
}

void copy_engine_close(struct copy_engine* e) {
    for (unsigned i = 0; i < e->channels; ++i) mmio_write32(e->channel[i].registers + COPY_ENGINE_CONTROL, 0);
    pci_disconnect(e->function, e);
    for (unsigned i = 0; i < e->channels; ++i) copy_channel_close(&e->channel[i]);
    heap_free(e->channel);
    *e = (struct copy_engine){0};
}
