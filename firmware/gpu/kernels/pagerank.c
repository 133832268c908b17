/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "sparse.h"

enum { WAVEFRONT = 64 };

/* A wavefront a row, whose partial sums meet in LDS, as in Hetero-Mark. */
KERNEL(pagerank, struct spmv_arguments) {
    LDS float part[WAVEFRONT];
    const size_t lane = local_id(0), row = group_id(0);
    args->y[row] = 0;
    const uint32_t end = args->row_start[row + 1];
    float sum = 0;
    for (uint32_t k = args->row_start[row] + (uint32_t)lane; k < end; k += WAVEFRONT)
        sum += args->value[k] * args->x[args->column[k]];
    part[lane] = sum;
    for (size_t half = WAVEFRONT / 2; half; half /= 2) {
        barrier();
        if (lane < half) part[lane] += part[lane + half];
    }
    if (lane == 0) args->y[row] += part[0];
}
