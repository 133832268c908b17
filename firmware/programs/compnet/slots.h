/* SPDX-License-Identifier: Apache-2.0 */
/* What messages between work-groups of two nodes have in common, with responses or without: their memory in a scheme's
 * payload, slot by slot (what goes out is a pattern, what comes in zeros; the last 8 bytes of a message are a number),
 * the run of their kernel, and what it tells. */
#ifndef FABRICVP_PROGRAMS_COMPNET_SLOTS_H
#define FABRICVP_PROGRAMS_COMPNET_SLOTS_H

#include "programs/compnet/backend.h"

struct slots {
    unsigned count;
    uint64_t pitch, size; /* bytes of a slot in each direction; of a message */
    uint64_t first;       /* number of a message in slot i: first + i % cycle */
    unsigned cycle;
    uint8_t* bytes; /* slots_bytes() of the program's memory, to work with */
};
static inline uint64_t slots_bytes(unsigned count, uint64_t pitch) { return 2 * count * pitch; }

/* \param numbered whether the messages' numbers are written as well; else kernels do it */
void slots_prepare(struct backend* backend, const struct slots* slots, bool numbered);
/* \returns whether the other node's patterns and numbers have come, and nothing else has */
bool slots_are_correct(struct backend* backend, unsigned with, const struct slots* slots);

/* What work-groups tell of themselves. */
struct slots_times {
    bool ok;                 /* none has failed; what has is printed */
    uint64_t total, longest; /* nanoseconds, of all work-groups */
};
struct slots_times slots_times(struct backend* backend, const struct rdma_buffer* results);

/* Runs a kernel of work-groups that talk. \param crash_us when what serves at the command processor is corrupted; 0:
 * never \param timeout_ns after which such a kernel gives up. \returns why the queue failed, or 0 */
unsigned slots_perform(struct backend* backend, struct gpu_queue_handle* queue, const char* kernel,
                       const void* arguments, size_t bytes, unsigned crash_us, uint64_t timeout_ns);

#endif
