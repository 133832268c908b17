/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "neural_network.h"

KERNEL(split_sum, struct split_sum_arguments) {
    const size_t i = global_id(0);
    if (i >= args->elements) return;
    float sum = args->from[i];
    for (uint32_t s = 1; s < args->slices; ++s) sum += args->from[s * args->elements + i];
    args->to[i] = sum;
}
