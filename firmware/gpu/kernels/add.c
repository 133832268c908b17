/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "neural_network.h"

KERNEL(add, struct add_arguments) {
    const size_t i = global_id(0);
    if (i >= args->elements) return;
    const float sum = args->b ? args->a[i] + args->b[i] : args->a[i];
    args->to[i] = args->relu && sum < 0 ? 0 : sum;
}
