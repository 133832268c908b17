/* SPDX-License-Identifier: Apache-2.0 */
/* One DMA channel of a copy engine (abi/copy_engine.h), be it a function of its own or a GPU's. */
#ifndef FABRICVP_DRIVERS_PCI_COPY_CHANNEL_H
#define FABRICVP_DRIVERS_PCI_COPY_CHANNEL_H

#include "abi/copy_engine.h"
#include "drivers/pci/pci.h"

enum { COPY_RING_SIZE = 64 };
enum copy_result { COPY_OK, COPY_READ_FAILED, COPY_STOPPED, COPY_TIMED_OUT };
extern const char* const copy_result_names[];

struct copy_channel {
    const enum pci_delivery* delivery; /* how the owner's interrupts come */
    uintptr_t registers;
    volatile struct copy_engine_descriptor* ring;
    uint32_t posted, waited; /* descriptors, ever; by copy_channel_wait() */
    uint32_t failed;         /* status of the last descriptor that has failed */
    volatile unsigned interrupts;
    volatile bool stopped;     /* by an error */
    volatile uint64_t flushed; /* where flushing reads go */
};

/* Makes a ring and enables the channel. \param registers of the channel \returns false if there is no memory */
bool copy_channel_open(struct copy_channel* channel, uintptr_t registers, const enum pci_delivery* delivery);
void copy_channel_close(struct copy_channel* channel);
/* To be called for its interrupts, with their causes, which the caller has cleared. */
void copy_channel_interrupted(struct copy_channel* channel, uint32_t causes);

/* Up to COPY_RING_SIZE descriptors, then the doorbell. */
void copy_channel_post(struct copy_channel* channel, uint64_t destination, uint64_t source, uint32_t bytes);
/* The same for GPUs, with flags, and the address space of virtual addresses. */
void copy_channel_post_as(struct copy_channel* channel, uint64_t destination, uint64_t source, uint32_t bytes,
                          uint32_t flags, uint32_t space);
/* A read of what was written last at `destination`, so that it has arrived there once the flush is done: writes to
 * another device's memory are not known to have arrived when they have been handed to the link. */
void copy_channel_post_flush(struct copy_channel* channel, uint64_t destination, uint32_t bytes);
/* Descriptors that may still be posted before the next wait. */
static inline unsigned copy_channel_space(const struct copy_channel* c) {
    return COPY_RING_SIZE - (c->posted - c->waited);
}
void copy_channel_ring(struct copy_channel* channel);
/* Waits for all that was posted, asleep if there are interrupts. */
enum copy_result copy_channel_wait(struct copy_channel* channel, uint64_t microseconds);

/* After COPY_STOPPED or COPY_TIMED_OUT: what is still in the ring is forgotten. */
void copy_channel_restart(struct copy_channel* channel);

/* One copy from post to wait. */
enum copy_result copy_channel_copy(struct copy_channel* channel, uint64_t destination, uint64_t source, uint32_t bytes);

#endif
