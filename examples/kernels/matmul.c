// SPDX-License-Identifier: Apache-2.0
// C = A * B for square matrices whose size is a multiple of TILE, a tile of C for each work-group.
#include "gpu.h"

#define TILE 16

struct arguments {
    const float *a, *b;
    float* c;
    uint32_t n;
};

LDS float tile_a[TILE][TILE], tile_b[TILE][TILE];

KERNEL(matmul, struct arguments) {
    const size_t x = local_id(0), y = local_id(1), column = global_id(0), row = global_id(1);
    const float *a = args->a, *b = args->b;
    const uint32_t n = args->n;
    float sum = 0;
    for (uint32_t k = 0; k < n; k += TILE) {
        tile_a[y][x] = a[row * n + k + x];
        tile_b[y][x] = b[(k + y) * n + column];
        barrier();
        for (uint32_t i = 0; i < TILE; ++i) sum += tile_a[y][i] * tile_b[i][x];
        barrier();
    }
    args->c[row * n + column] = sum;
}
