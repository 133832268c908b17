/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels that multiply matrices share. Of lanes only. */
#ifndef FABRICVP_GPU_KERNELS_GEMM_TILES_H
#define FABRICVP_GPU_KERNELS_GEMM_TILES_H

#include <stdbool.h>

#include "gpu.h"
#include "neural_network.h"

enum { TILE = 16 };

/* c = op(a)·op(b) of a work-group's tile, over the depth, or a slice of it (a multiple of TILE), whose sums go to a
 * matrix of their own behind `c`. A loop for each way of reading the factors: one for all would need more registers
 * than there are. */
static inline __attribute__((always_inline)) void multiply(const struct gemm_arguments* args, uint32_t number,
                                                           uint32_t slice, bool transpose_a, bool transpose_b) {
    LDS float a[TILE][TILE + 1], b[TILE][TILE + 1];
    const uint32_t x = local_id(0), y = local_id(1), m = args->m, n = args->n, depth = args->k;
    const uint32_t top = group_id(1) * TILE, left = group_id(0) * TILE;
    const uint32_t first = number * slice, last = slice && depth - first > slice ? first + slice : depth;
    float sum = 0;
    for (uint32_t tile = first; tile < last; tile += TILE) {
        /* Lanes beside each other read words beside each other, transposed or not. */
        if (transpose_a)
            a[x][y] = tile + y < depth && top + x < m ? args->a[(size_t)(tile + y) * m + top + x] : 0;
        else
            a[y][x] = top + y < m && tile + x < depth ? args->a[(size_t)(top + y) * depth + tile + x] : 0;
        if (transpose_b)
            b[x][y] = left + y < n && tile + x < depth ? args->b[(size_t)(left + y) * depth + tile + x] : 0;
        else
            b[y][x] = tile + y < depth && left + x < n ? args->b[(size_t)(tile + y) * n + left + x] : 0;
        barrier();
        for (unsigned k = 0; k < TILE; ++k) sum += a[y][k] * b[k][x];
        barrier();
    }
    if (top + y < m && left + x < n) args->c[(size_t)number * m * n + (size_t)(top + y) * n + left + x] = sum;
}

#endif
