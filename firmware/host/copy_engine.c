/* SPDX-License-Identifier: Apache-2.0 */
#include "host/copy_engine.h"

#include "host/harts.h"
#include "host/heap.h"
#include "host/mmio.h"
#include "host/timer.h"

enum { COPY_TAKES_AT_MOST_US = 1000000, STATUS_EVERY = 64 };

const char* const copy_result_names[] = {"ok", "a read failed", "the engine stopped", "timed out"};

static bool has_failed(const struct copy_channel* c) {
    return mmio_read32(c->registers + COPY_ENGINE_STATUS) & COPY_ENGINE_STATUS_FAILED;
}

/* One failed copy does not stop the ring. */
static void on_cause(struct copy_channel* c, uint32_t causes) {
    c->interrupts = c->interrupts + 1;
    if (causes & COPY_ENGINE_INTERRUPT_ERROR && has_failed(c)) c->stopped = true;
}

/* With MSI-X the vector tells channel and cause. With the pin the causes do, and they must be gone from the line before
 * the interrupt controller looks again: the read comes back behind the message that lowers it. */
static void on_interrupt(void* context, int vector) {
    struct copy_engine* e = context;
    if (vector != PCI_ANY_VECTOR) {
        struct copy_channel* c = &e->channel[(unsigned)vector / COPY_ENGINE_VECTORS];
        const uint32_t cause = 1u << (unsigned)vector % COPY_ENGINE_VECTORS;
        mmio_write32(c->registers + COPY_ENGINE_INTERRUPT, cause);
        on_cause(c, cause);
        return;
    }
    const uint32_t pending = mmio_read32(e->registers + COPY_ENGINE_PENDING);
    for (unsigned i = 0; i < e->channels; ++i) {
        if (!(pending >> i & 1)) continue;
        struct copy_channel* c = &e->channel[i];
        const uint32_t causes = mmio_read32(c->registers + COPY_ENGINE_INTERRUPT);
        mmio_write32(c->registers + COPY_ENGINE_INTERRUPT, causes);
        on_cause(c, causes);
    }
    if (pending) mmio_read32(e->registers + COPY_ENGINE_PENDING);
}

static bool open_channel(struct copy_engine* e, unsigned index) {
    struct copy_channel* c = &e->channel[index];
    const size_t bytes = COPY_RING_SIZE * sizeof(struct copy_engine_descriptor);
    void* ring = heap_allocate_aligned(bytes, 64);
    if (!ring) return false;
    memset(ring, 0, bytes);
    *c = (struct copy_channel){
        .engine = e, .registers = e->registers + index * COPY_ENGINE_CHANNEL_STRIDE, .ring = ring};
    copy_channel_restart(c);
    return true;
}

void copy_channel_restart(struct copy_channel* c) {
    mmio_write32(c->registers + COPY_ENGINE_CONTROL, 0);
    mmio_write64(c->registers + COPY_ENGINE_RING_BASE, (uintptr_t)c->ring);
    mmio_write32(c->registers + COPY_ENGINE_RING_SIZE, COPY_RING_SIZE);
    mmio_write32(c->registers + COPY_ENGINE_CONTROL, COPY_ENGINE_CONTROL_ENABLE);
    c->posted = c->waited = 0;
    c->stopped = false;
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
    if (e->channels == 0 || e->channels > COPY_ENGINE_MOST_CHANNELS) return false;
    e->channel = heap_allocate(e->channels * sizeof *e->channel);
    if (!e->channel) return false;
    for (unsigned i = 0; i < e->channels; ++i)
        if (!open_channel(e, i)) return false;
    e->delivery = pci_connect(f, e->channels * COPY_ENGINE_VECTORS, best, on_interrupt, e);
    return true;
}

void copy_engine_close(struct copy_engine* e) {
    for (unsigned i = 0; i < e->channels; ++i) mmio_write32(e->channel[i].registers + COPY_ENGINE_CONTROL, 0);
    pci_disconnect(e->function, e);
    for (unsigned i = 0; i < e->channels; ++i) heap_free((void*)(uintptr_t)e->channel[i].ring);
    heap_free(e->channel);
    *e = (struct copy_engine){0};
}

static void post(struct copy_channel* c, uint64_t destination, uint64_t source, uint32_t bytes, uint32_t flags) {
    volatile struct copy_engine_descriptor* d = &c->ring[c->posted++ % COPY_RING_SIZE];
    d->source = source;
    d->destination = destination;
    d->length = bytes;
    d->flags = flags;
    d->status = 0;
}

void copy_channel_post(struct copy_channel* c, uint64_t destination, uint64_t source, uint32_t bytes) {
    post(c, destination, source, bytes, 0);
}

void copy_channel_post_flush(struct copy_channel* c, uint64_t destination, uint32_t bytes) {
    if (bytes) post(c, (uintptr_t)&c->flushed, destination + bytes - 1, 1, 0);
}

void copy_channel_ring(struct copy_channel* c) {
    c->ring[(c->posted - 1) % COPY_RING_SIZE].flags = COPY_ENGINE_FLAG_INTERRUPT;
    mmio_write32(c->registers + COPY_ENGINE_DOORBELL, c->posted); /* behind the descriptors */
}

static bool finished(void* context) {
    const struct copy_channel* c = context;
    return c->stopped || c->ring[(c->posted - 1) % COPY_RING_SIZE].status != 0;
}

enum copy_result copy_channel_wait(struct copy_channel* c, uint64_t microseconds) {
    bool in_time = true;
    if (c->engine->delivery != PCI_POLLED) {
        in_time = timer_wait_for(finished, c, microseconds);
    } else {
        const uint64_t begin = timer_now();
        for (unsigned polls = 1; in_time && !finished(c); ++polls) {
            relax();
            if (polls % STATUS_EVERY) continue;
            c->stopped = has_failed(c);
            in_time = timer_microseconds(timer_now() - begin) < microseconds;
        }
    }
    __asm__ volatile("fence r, rw" ::: "memory"); /* the data were written before the status */
    if (c->stopped) return COPY_STOPPED;
    if (!in_time) return COPY_TIMED_OUT;
    enum copy_result result = COPY_OK;
    for (; c->waited != c->posted; ++c->waited)
        if (c->ring[c->waited % COPY_RING_SIZE].status != COPY_ENGINE_DONE) result = COPY_READ_FAILED;
    return result;
}

enum copy_result copy_channel_copy(struct copy_channel* c, uint64_t destination, uint64_t source, uint32_t bytes) {
    copy_channel_post(c, destination, source, bytes);
    copy_channel_ring(c);
    return copy_channel_wait(c, COPY_TAKES_AT_MOST_US);
}
