/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "dense.h"

KERNEL(matvec_transposed, struct matvec_arguments)
{
    const size_t column = global_id(0), columns = args->columns;
    if (column >= columns) return;
    float sum = 0;
    for (size_t row = 0; row < args->rows; ++row) sum += args->a[row * columns + column] * args->x[row];
    args->y[column] += sum;
}
