/* SPDX-License-Identifier: Apache-2.0 */
#include "amg.h"
#include "gpu.h"

/* A step of weighted Jacobi. */
KERNEL(amg_relax, struct amg_arguments) {
    const size_t row = global_id(0);
    if (row >= args->rows) return;
    const uint32_t first = args->row_start[row], end = args->row_start[row + 1];
    const double own = args->from[row], diagonal = args->value[first];
    double residual = args->right[row] - diagonal * own;
    for (uint32_t k = first + 1; k < end; ++k) residual -= args->value[k] * args->from[args->column[k]];
    args->to[row] = own + residual * AMG_WEIGHT / diagonal;
}
