/* SPDX-License-Identifier: Apache-2.0 */
#include "amg.h"
#include "gpu.h"

/* to += M·from: between levels. */
KERNEL(amg_transfer, struct amg_arguments) {
    const size_t row = global_id(0);
    if (row >= args->rows) return;
    double sum = args->to[row];
    for (uint32_t k = args->row_start[row], end = args->row_start[row + 1]; k < end; ++k)
        sum += args->value[k] * args->from[args->column[k]];
    args->to[row] = sum;
}
