/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of the copy engine (abi/copy_engine.h). Addresses are bus addresses; host memory has its own. */
#ifndef FABRICVP_HOST_COPY_ENGINE_H
#define FABRICVP_HOST_COPY_ENGINE_H

#include "abi/copy_engine.h"
#include "host/pci.h"

enum { COPY_RING_SIZE = 64 };
enum copy_result { COPY_OK, COPY_READ_FAILED, COPY_STOPPED, COPY_TIMED_OUT };
extern const char* const copy_result_names[];

struct copy_engine;

struct copy_channel {
    struct copy_engine* engine;
    uintptr_t registers;
    volatile struct copy_engine_descriptor* ring;
    uint32_t posted, waited; /* descriptors, ever; by copy_channel_wait() */
    volatile unsigned interrupts;
    volatile bool stopped;     /* by an error */
    volatile uint64_t flushed; /* where flushing reads go */
};

struct copy_engine {
    struct pci_function* function;
    uintptr_t registers; /* BAR 0 */
    uint64_t memory;     /* bus address of BAR 2 */
    uintptr_t aperture;  /* where the CPU sees it */
    uint64_t memory_size;
    unsigned channels;
    struct copy_channel* channel;
    enum pci_delivery delivery;
};

/* Enables the function, makes a ring for each channel and connects interrupts, at best as `best` says. \returns false
 * if the function has no addresses or there is no memory. */
bool copy_engine_open(struct copy_engine* engine, struct pci_function* function, enum pci_delivery best);
/* Channels stop, interrupts are silent, rings are freed. */
void copy_engine_close(struct copy_engine* engine);

/* Up to COPY_RING_SIZE descriptors, then the doorbell. */
void copy_channel_post(struct copy_channel* channel, uint64_t destination, uint64_t source, uint32_t bytes);
/* A read of what was written last at `destination`, so that it has arrived there once the flush is done: writes to
 * another device's memory are not known to have arrived when they have been handed to the link. */
void copy_channel_post_flush(struct copy_channel* channel, uint64_t destination, uint32_t bytes);
void copy_channel_ring(struct copy_channel* channel);
/* Waits for all that was posted, asleep if there are interrupts. */
enum copy_result copy_channel_wait(struct copy_channel* channel, uint64_t microseconds);

/* After COPY_STOPPED or COPY_TIMED_OUT: what is still in the ring is forgotten. */
void copy_channel_restart(struct copy_channel* channel);

/* One copy from post to wait. */
enum copy_result copy_channel_copy(struct copy_channel* channel, uint64_t destination, uint64_t source, uint32_t bytes);

#endif
