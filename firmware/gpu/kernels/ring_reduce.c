/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "neural_network.h"

/* A step of an all-reduce. Few lanes go through all elements, as of a library that leaves compute units to others. */
KERNEL(ring_reduce, struct ring_reduce_arguments) {
    for (size_t i = global_id(0); i < args->elements; i += grid_size(0)) {
        if (args->scale)
            args->to[i] = (args->to[i] + args->from[i]) * args->scale;
        else
            args->to[i] = args->from[i];
    }
}
