/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"
#include "gpu.h"

KERNEL(column_products, struct column_products_arguments) {
    const size_t column = global_id(0), n = args->n;
    if (column >= n) return;
    double sum = 0;
    for (size_t row = 0; row < n; ++row) sum += args->x[row] * (double)args->m[row * n + column];
    args->to[column] = sum;
}
