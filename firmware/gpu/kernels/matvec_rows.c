/* SPDX-License-Identifier: Apache-2.0 */
#include "dense.h"
#include "gpu.h"

/* A lane a row: lanes beside each other read elements a row apart. As in PolyBench/GPU, every step stores the sum so
 * far. */
KERNEL(matvec_rows, struct matvec_arguments) {
    const size_t row = global_id(0), columns = args->columns;
    if (row >= args->rows) return;
    const float *a = args->a + row * columns, *x = args->x;
    float* y = args->y + row;
    for (size_t column = 0; column < columns; ++column) *y += a[column] * x[column];
}
