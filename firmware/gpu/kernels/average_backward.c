/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "neural_network.h"

KERNEL(average_backward, struct average_arguments) {
    const size_t i = global_id(0);
    if (i < (size_t)args->planes * args->size)
        args->planes_data[i] = args->averages[i / args->size] / (float)args->size;
}
