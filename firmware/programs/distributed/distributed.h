/* SPDX-License-Identifier: Apache-2.0 */
/* Applications over all GPUs of all nodes (abi/apps.h, GPU_DISTRIBUTED_APPS). */
#ifndef FABRICVP_PROGRAMS_DISTRIBUTED_DISTRIBUTED_H
#define FABRICVP_PROGRAMS_DISTRIBUTED_DISTRIBUTED_H

#include "abi/apps.h"
#include "gpu/kernels/random.h"
#include "programs/distributed/ring.h"

struct distributed {
    struct ring ring;
    uint64_t size, steps, columns; /* see GPU_APP_OPTIONS */
    uint64_t began, cycles;        /* of what is measured */
};

/* What an element of an input draws; the seed shifts it. */
static inline uint64_t distributed_random(uint64_t row, uint64_t column) { return hash64(row << 32 | column) >> 32; }

/* Bytes that a member needs; it knows the size alone. */
uint64_t allreduce_bytes(const struct distributed* d);
uint64_t mm_ring_bytes(const struct distributed* d);
uint64_t halo_bytes(const struct distributed* d);
/* \returns whether what is on this node's GPUs is what it has to be */
bool allreduce_run(struct distributed* d);
bool mm_ring_run(struct distributed* d);
bool halo_run(struct distributed* d);

/* Around what is measured; all nodes begin together. */
void distributed_begin(struct distributed* d, const char* label);
void distributed_end(struct distributed* d);
/* Says which value is wrong. \returns false */
bool distributed_mismatch(const struct distributed* d, unsigned gpu, const char* what, uint64_t index);

#endif
