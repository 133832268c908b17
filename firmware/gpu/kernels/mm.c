/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"
#include "gpu.h"

enum { TILE = 16 };

KERNEL(mm, struct mm_arguments) {
    LDS float a[TILE][TILE], b[TILE][TILE];
    const size_t x = local_id(0), y = local_id(1), n = args->n, row = group_id(1) * TILE + y,
                 column = group_id(0) * TILE + x;
    float sum = 0;
    for (size_t tile = 0; tile < n; tile += TILE) {
        a[y][x] = args->a[row * n + tile + x];
        b[y][x] = args->b[(tile + y) * n + column];
        barrier();
        for (unsigned k = 0; k < TILE; ++k) sum += a[y][k] * b[k][x];
        barrier();
    }
    args->c[row * n + column] = sum;
}
