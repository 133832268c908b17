/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "neural_network.h"

KERNEL(relu_backward, struct channel_arguments) {
    const size_t i = global_id(0);
    if (i < args->elements && !(args->other[i] > 0)) args->x[i] = 0;
}
