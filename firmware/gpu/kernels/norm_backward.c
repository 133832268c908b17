/* SPDX-License-Identifier: Apache-2.0 */
#include "neural_network.h"
#include "reduce.h"

KERNEL(norm_backward, struct norm_arguments) {
    LDS float scratch[REDUCE_GROUP];
    const size_t channel = group_id(0), n = args->positions, first = channel * n;
    const float *g = args->out_gradient + first, *normal = args->normal + first;
    float beta = 0, gamma = 0;
    for (size_t i = local_id(0); i < n; i += REDUCE_GROUP) {
        beta += g[i];
        gamma += g[i] * normal[i];
    }
    beta = group_sum(beta, scratch);
    gamma = group_sum(gamma, scratch);
    if (local_id(0) == 0) {
        args->beta_gradient[channel] = beta;
        args->gamma_gradient[channel] = gamma;
    }
    const float factor = args->gamma[channel] * args->scale[channel];
    for (size_t i = local_id(0); i < n; i += REDUCE_GROUP) {
        const float gradient = factor * (g[i] - beta / (float)n - normal[i] * (gamma / (float)n));
        args->out[first + i] = args->accumulate ? args->out[first + i] + gradient : gradient;
    }
}
