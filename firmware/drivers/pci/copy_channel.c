/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/pci/copy_channel.h"

#include "lib/dma.h"
#include "lib/harts.h"
#include "lib/mmio.h"
#include "lib/timer.h"

enum { COPY_MAX_US = 1000000, STATUS_EVERY = 64 };

const char* const copy_result_names[] = {"ok", "a read failed", "the engine stopped", "timed out"};

static bool has_failed(const struct copy_channel* c) {
    return mmio_read32(c->registers + COPY_ENGINE_STATUS) & COPY_ENGINE_STATUS_FAILED;
}

/* One failed copy does not stop the ring. */
void copy_channel_interrupted(struct copy_channel* c, uint32_t causes) {
    c->interrupts = c->interrupts + 1;
    if (causes & COPY_ENGINE_INTERRUPT_ERROR && has_failed(c)) c->stopped = true;
}

bool copy_channel_open(struct copy_channel* c, uintptr_t registers, const enum pci_delivery* delivery) {
    const size_t bytes = COPY_RING_SIZE * sizeof(struct copy_engine_descriptor);
    void* ring = dma_allocate(bytes, 64);
    if (!ring) return false;
    memset(ring, 0, bytes);
    *c = (struct copy_channel){.delivery = delivery, .registers = registers, .ring = ring};
    copy_channel_restart(c);
    return true;
}

void copy_channel_close(struct copy_channel* c) {
    mmio_write32(c->registers + COPY_ENGINE_CONTROL, 0);
    dma_free((void*)(uintptr_t)c->ring);
}

void copy_channel_restart(struct copy_channel* c) {
    mmio_write32(c->registers + COPY_ENGINE_CONTROL, 0);
    mmio_write64(c->registers + COPY_ENGINE_RING_BASE, (uintptr_t)c->ring);
    mmio_write32(c->registers + COPY_ENGINE_RING_SIZE, COPY_RING_SIZE);
    mmio_write32(c->registers + COPY_ENGINE_CONTROL, COPY_ENGINE_CONTROL_ENABLE);
    c->posted = c->waited = 0;
    c->stopped = false;
}

void copy_channel_post_as(struct copy_channel* c, uint64_t destination, uint64_t source, uint32_t bytes, uint32_t flags,
                          uint32_t space) {
    volatile struct copy_engine_descriptor* d = &c->ring[c->posted++ % COPY_RING_SIZE];
    d->source = source;
    d->destination = destination;
    d->length = bytes;
    d->flags = flags;
    d->space = space;
    d->status = 0;
}

void copy_channel_post(struct copy_channel* c, uint64_t destination, uint64_t source, uint32_t bytes) {
    copy_channel_post_as(c, destination, source, bytes, 0, 0);
}

void copy_channel_post_flush(struct copy_channel* c, uint64_t destination, uint32_t bytes) {
    if (bytes) copy_channel_post(c, (uintptr_t)&c->flushed, destination + bytes - 1, 1);
}

void copy_channel_ring(struct copy_channel* c) {
    if (DMA_COPIES_INTERRUPT) c->ring[(c->posted - 1) % COPY_RING_SIZE].flags |= COPY_ENGINE_FLAG_INTERRUPT;
    mmio_write32(c->registers + COPY_ENGINE_DOORBELL, c->posted); /* behind the descriptors */
}

static bool finished(void* context) {
    const struct copy_channel* c = context;
    return c->stopped || c->ring[(c->posted - 1) % COPY_RING_SIZE].status != 0;
}

enum copy_result copy_channel_wait(struct copy_channel* c, uint64_t microseconds) {
    bool in_time = true;
    if (*c->delivery != PCI_POLLED) {
        in_time = timer_wait_for(finished, c, microseconds);
    } else {
        const uint64_t begin = timer_now();
        for (unsigned polls = 1; in_time && !finished(c); ++polls) {
            relax();
            if (polls % STATUS_EVERY) continue;
            c->stopped = has_failed(c);
            in_time = timer_wait_more(begin, microseconds);
        }
    }
    __asm__ volatile("fence r, rw" ::: "memory"); /* the data were written before the status */
    if (c->stopped) return COPY_STOPPED;
    if (!in_time) return COPY_TIMED_OUT;
    enum copy_result result = COPY_OK;
    for (; c->waited != c->posted; ++c->waited) {
        const uint32_t status = c->ring[c->waited % COPY_RING_SIZE].status;
        if (status == COPY_ENGINE_DONE) continue;
        c->failed = status;
        result = COPY_READ_FAILED;
    }
    return result;
}

enum copy_result copy_channel_copy(struct copy_channel* c, uint64_t destination, uint64_t source, uint32_t bytes) {
    copy_channel_post(c, destination, source, bytes);
    copy_channel_ring(c);
    return copy_channel_wait(c, COPY_MAX_US);
}
