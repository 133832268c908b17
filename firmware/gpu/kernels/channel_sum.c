/* SPDX-License-Identifier: Apache-2.0 */
#include "neural_network.h"
#include "reduce.h"

KERNEL(channel_sum, struct channel_sum_arguments) {
    LDS float scratch[REDUCE_GROUP];
    const float* from = args->from + group_id(0) * args->positions;
    float sum = 0;
    for (size_t i = local_id(0); i < args->positions; i += REDUCE_GROUP) sum += from[i];
    sum = group_sum(sum, scratch);
    if (local_id(0) == 0) args->to[group_id(0)] = sum;
}
