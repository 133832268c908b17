/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"
#include "gpu.h"

enum { GROUP = 256 };

KERNEL(reduction, struct reduction_arguments) {
    LDS uint64_t sum[GROUP];
    const size_t i = global_id(0), lane = local_id(0);
    sum[lane] = i < args->n ? args->from[i] : 0;
    for (size_t half = GROUP / 2; half; half /= 2) {
        barrier();
        if (lane < half) sum[lane] += sum[lane + half];
    }
    if (lane == 0) args->partial[group_id(0)] = sum[0];
}
