/* SPDX-License-Identifier: Apache-2.0 */
/* A work-group that gives another node what lies anywhere in the memory of this node's GPUs, and takes what it gives.
 * Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_NETWORK_EXCHANGE_H
#define FABRICVP_GPU_KERNELS_NETWORK_EXCHANGE_H

#include "abi/network_queue.h"
#include "gpu/kernels/arguments.h"

enum { EXCHANGE_GROUP = 1024 };
enum exchange_steps {
    EXCHANGE_PACK = 1,        /* from `from` to `out`, which the adapter reaches */
    EXCHANGE_COMMUNICATE = 2, /* `out` to `remote`, then `number` to `remote_flag`; waits until `flag` has it */
    EXCHANGE_UNPACK = 4       /* from `in` to `to` */
};
struct network_exchange_arguments {
    POINTER(struct network_access) access;
    POINTER(const uint32_t) from;
    POINTER(uint32_t) out;
    POINTER(const uint32_t) in;
    POINTER(uint32_t) to;
    uint64_t remote, remote_flag;
    POINTER(const uint64_t) flag;
    POINTER(uint32_t) failed; /* status of the request that failed, or NETWORK_FAILED if nothing was heard */
    uint64_t timeout;         /* nanoseconds */
    uint32_t bytes, number, peer, steps;
};

#endif
