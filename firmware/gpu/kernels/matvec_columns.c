/* SPDX-License-Identifier: Apache-2.0 */
#include "dense.h"
#include "gpu.h"

/* A lane a column: lanes beside each other read elements beside each other. As in PolyBench/GPU, every step stores the
 * sum so far. */
KERNEL(matvec_columns, struct matvec_arguments) {
    const size_t column = global_id(0), columns = args->columns;
    if (column >= columns) return;
    const float *a = args->a + column, *x = args->x;
    float* y = args->y + column;
    for (size_t row = 0; row < args->rows; ++row) *y += a[row * columns] * x[row];
}
