/* SPDX-License-Identifier: Apache-2.0 */
#include "dense.h"
#include "gpu.h"

enum { GROUP = 256 };

KERNEL(sum, struct sum_arguments) {
    LDS uint64_t sum[GROUP];
    const size_t lane = local_id(0);
    uint64_t own = 0;
    for (size_t i = global_id(0); i < args->n; i += grid_size(0)) own += args->from[i];
    sum[lane] = own;
    for (size_t half = GROUP / 2; half; half /= 2) {
        barrier();
        if (lane < half) sum[lane] += sum[lane + half];
    }
    if (lane == 0) args->partial[group_id(0)] = sum[0];
}
