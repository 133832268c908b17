/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "neural_network.h"

KERNEL(bias_relu, struct channel_arguments) {
    const size_t i = global_id(0);
    if (i >= args->elements) return;
    const float x = args->x[i] + args->other[i / args->positions];
    args->x[i] = args->relu && x < 0 ? 0 : x;
}
