/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "sparse.h"

/* A lane a row, as SHOC's scalar kernel for compressed rows. */
KERNEL(spmv, struct spmv_arguments) {
    const size_t row = global_id(0);
    if (row >= args->rows) return;
    float sum = 0;
    const uint32_t end = args->row_start[row + 1];
    for (uint32_t k = args->row_start[row]; k < end; ++k) sum += args->value[k] * args->x[args->column[k]];
    args->y[row] = sum;
}
