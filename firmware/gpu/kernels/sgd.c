/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "neural_network.h"

KERNEL(sgd, struct sgd_arguments) {
    const size_t i = global_id(0);
    if (i < args->elements) args->weight[i] -= args->rate * args->gradient[i];
}
