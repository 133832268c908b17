/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "network.h"

/* A step of an all-reduce whose messages are sent between kernels. */
KERNEL(network_compare, struct network_compare_arguments) {
    if (local_id(0)) return;
    const uint32_t mine = (uint32_t)*args->mine, seen = (uint32_t)*args->seen;
    *args->next = COLLECTIVE_NUMBER(args->iteration) | (mine > seen ? mine : seen);
}
