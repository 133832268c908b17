/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels in queues, found in what processes have written for the GPU. */
#ifndef FABRICVP_LINUX_BROKER_KERNELS_H
#define FABRICVP_LINUX_BROKER_KERNELS_H

#include "linux/broker/broker.h"

struct kernels {
    char name[64];    /* of the one that runs, empty if none does */
    uint64_t packet;  /* of that: its place in the ring */
    uint64_t before;  /* when the packet before it ended: tells it from a later one at the same place */
    unsigned waiting; /* behind it */
};
/* \returns false if the queue is no process's, or has none */
bool kernels_of(unsigned gpu, unsigned queue, struct kernels* found);
/* Ends kernels that have run for longer than `limit_ns` since they were first seen. To be called often in that time. */
void kernels_limit(uint64_t limit_ns);

#endif
