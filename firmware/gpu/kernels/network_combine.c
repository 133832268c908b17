/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "network.h"

KERNEL(network_combine, struct network_combine_arguments) {
    for (uint64_t at = global_id(0); at < args->elements; at += grid_size(0))
        args->to[at] = args->to[at] + args->other[at];
}
