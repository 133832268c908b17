/* SPDX-License-Identifier: Apache-2.0 */
#include "neural_network.h"
#include "reduce.h"

GPU_INLINE float square_root(float x) {
    float root;
    __asm__("fsqrt.s %0, %1" : "=f"(root) : "f"(x));
    return root;
}

KERNEL(norm, struct norm_arguments) {
    LDS float scratch[REDUCE_GROUP];
    const size_t channel = group_id(0), n = args->positions, first = channel * n;
    float sum = 0;
    for (size_t i = local_id(0); i < n; i += REDUCE_GROUP) sum += args->in[first + i];
    const float mean = group_sum(sum, scratch) / (float)n;
    sum = 0;
    for (size_t i = local_id(0); i < n; i += REDUCE_GROUP)
        sum += (args->in[first + i] - mean) * (args->in[first + i] - mean);
    const float scale = 1 / square_root(group_sum(sum, scratch) / (float)n + NORM_EPSILON);
    if (local_id(0) == 0) args->scale[channel] = scale;
    for (size_t i = local_id(0); i < n; i += REDUCE_GROUP) {
        const float normal = (args->in[first + i] - mean) * scale;
        args->normal[first + i] = normal;
        args->out[first + i] = normal * args->gamma[channel] + args->beta[channel];
    }
}
