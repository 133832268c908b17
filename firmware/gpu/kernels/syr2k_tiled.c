/* SPDX-License-Identifier: Apache-2.0 */
#include "dense.h"
#include "gpu.h"

enum { TILE = SYR2K_TILE };

KERNEL(syr2k_tiled, struct syr2k_arguments) {
    /* Rows of both factors for this block's rows and for its columns, transposed and padded against bank conflicts. */
    LDS float a_row[TILE][TILE + 1], b_row[TILE][TILE + 1], a_column[TILE][TILE + 1], b_column[TILE][TILE + 1];
    const size_t x = local_id(0), y = local_id(1), m = args->m, across = group_id(0) * TILE, down = group_id(1) * TILE;
    if (across > down) return;
    float sum = 0;
    for (size_t tile = 0; tile < m; tile += TILE) {
        a_row[y][x] = args->a[(down + y) * m + tile + x];
        b_row[y][x] = args->b[(down + y) * m + tile + x];
        a_column[y][x] = args->a[(across + y) * m + tile + x];
        b_column[y][x] = args->b[(across + y) * m + tile + x];
        barrier();
        for (unsigned k = 0; k < TILE; ++k) sum += a_row[y][k] * b_column[x][k] + b_row[y][k] * a_column[x][k];
        barrier();
    }
    if (across + x <= down + y) args->c[(down + y) * args->n + across + x] += sum;
}
