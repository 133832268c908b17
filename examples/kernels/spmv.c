// SPDX-License-Identifier: Apache-2.0
// y = A * x with a sparse matrix in compressed rows: a work-item, or a whole work-group, for each row.
#include "gpu.h"

struct scalar_arguments {
    const uint32_t *starts, *columns;
    const float *values, *x;
    float* y;
    uint32_t rows;
};

KERNEL(spmv_scalar, struct scalar_arguments) {
    const uint32_t *starts = args->starts, *columns = args->columns;
    const float *values = args->values, *x = args->x;
    const size_t row = global_id(0);
    if (row >= args->rows) return;
    float sum = 0;
    for (uint32_t i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
    args->y[row] = sum;
}

struct vector_arguments {
    const uint32_t *starts, *columns;
    const float *values, *x;
    float* y;
};

LDS float part[64];

KERNEL(spmv_vector, struct vector_arguments) {
    const uint32_t *starts = args->starts, *columns = args->columns;
    const float *values = args->values, *x = args->x;
    const size_t row = group_id(0), l = local_id(0);
    float sum = 0;
    for (uint32_t i = starts[row] + (uint32_t)l; i < starts[row + 1]; i += (uint32_t)group_size(0))
        sum += values[i] * x[columns[i]];
    part[l] = sum;
    for (size_t half = group_size(0) / 2; half; half /= 2) {
        barrier();
        if (l < half) part[l] += part[l + half];
    }
    if (l == 0) args->y[row] = part[0];
}
