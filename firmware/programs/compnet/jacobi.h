/* SPDX-License-Identifier: Apache-2.0 */
/* Jacobi's method over all nodes, by the CPUs and by the GPUs, with the network performed by one scheme. */
#ifndef FABRICVP_PROGRAMS_COMPNET_JACOBI_H
#define FABRICVP_PROGRAMS_COMPNET_JACOBI_H

#include "programs/compnet/backend.h"

struct jacobi_options {
    uint64_t rows, columns; /* of each node */
    uint64_t iterations, groups, cores;
    uint64_t driver_us; /* that a driver takes to launch a kernel, beyond what is simulated */
    bool reference;     /* whether the CPUs solve first, for comparison */
};
enum { JACOBI_QUEUES = 2 }; /* of requests, with a service: for the rows at both edges */
/* Refuses what cannot be on this node. */
void jacobi_check(const struct jacobi_options* options, unsigned nodes);
/* Prints a digest of what was found. \param base a backend that is not open \returns whether the GPUs find what the
 * CPUs find, to the bit */
bool jacobi_run(const struct backend* base, struct gpu_queue_handle* queue, const struct jacobi_options* options);

#endif
