/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/network_copy.h"
#include "gpu.h"

KERNEL(network_copy, struct network_copy_arguments) {
    const uint64_t count = args->count, step = grid_size(0);
    if (args->adds)
        for (uint64_t i = global_id(0); i < count; i += step) args->to[i] = args->to[i] + args->from[i];
    else
        for (uint64_t i = global_id(0); i < count; i += step) args->to[i] = args->from[i];
}
