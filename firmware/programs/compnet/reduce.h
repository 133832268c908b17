/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduces of a vector of floats over all nodes, with the network performed by one scheme. */
#ifndef FABRICVP_PROGRAMS_COMPNET_REDUCE_H
#define FABRICVP_PROGRAMS_COMPNET_REDUCE_H

#include "network/schedule.h"
#include "programs/compnet/backend.h"

struct reduce_options {
    uint64_t bytes;  /* of the vector, the same on all nodes; whole floats */
    uint64_t rounds; /* all-reduces, each of what the one before has left */
    enum collective_algorithm algorithm;
    uint64_t cores;     /* of the CPU that add */
    uint64_t driver_us; /* that a driver takes to launch a kernel, beyond what is simulated */
};
extern const char* const reduce_algorithm_names[]; /* of enum collective_algorithm; then NULL */
/* \returns whether all nodes have all sums, to the bit */
bool reduce_run(const struct backend* base, struct gpu_queue_handle* queue, const struct reduce_options* options);

#endif
