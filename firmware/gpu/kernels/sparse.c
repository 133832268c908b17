/* SPDX-License-Identifier: Apache-2.0 */
#include "sparse.h"
#include "gpu.h"

KERNEL(sparse, struct sparse_arguments) {
    const size_t row = global_id(0);
    if (row >= args->rows) return;
    const uint32_t first = args->row_start[row], entries = args->row_start[row + 1] - first;
    for (uint32_t i = 0; i < entries; ++i) {
        const uint64_t random = sparse_random(row, i, args->shift);
        args->column[first + i] = sparse_column(random, i, entries, args->rows);
        args->value[first + i] = sparse_value(random, args->scale);
    }
}
