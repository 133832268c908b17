/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"
#include "gpu.h"

enum { TILE = 16 };

KERNEL(transpose, struct transpose_arguments) {
    LDS uint32_t tile[TILE][TILE + 1]; /* one more, so that columns lie in different banks */
    const size_t x = local_id(0), y = local_id(1), column = group_id(0) * TILE, row = group_id(1) * TILE;
    tile[y][x] = args->from[(row + y) * args->columns + column + x];
    barrier();
    args->to[(column + y) * args->rows + row + x] = tile[x][y];
}
