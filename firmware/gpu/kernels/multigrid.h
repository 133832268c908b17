/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_GPU_KERNELS_MULTIGRID_H
#define FABRICVP_GPU_KERNELS_MULTIGRID_H

#include "dense.h"
#include "gpu.h"

/* A cell of an n³ grid by its work-item: x runs fastest. */
struct cell {
    uint32_t x, y, z;
    size_t at;
};

GPU_INLINE int cell_of(struct cell* c, uint32_t n) {
    c->x = (uint32_t)global_id(0);
    c->y = (uint32_t)global_id(1);
    c->z = (uint32_t)global_id(2);
    c->at = ((size_t)c->z * n + c->y) * n + c->x;
    return c->x < n && c->y < n && c->z < n;
}

/* Sum of the six neighbours, in a fixed order. */
GPU_INLINE double neighbours(const double* u, struct cell c, size_t n) {
    const double left = c.x ? u[c.at - 1] : 0, right = c.x + 1 < n ? u[c.at + 1] : 0;
    const double up = c.y ? u[c.at - n] : 0, down = c.y + 1 < n ? u[c.at + n] : 0;
    const double front = c.z ? u[c.at - n * n] : 0, back = c.z + 1 < n ? u[c.at + n * n] : 0;
    return ((left + right) + (up + down)) + (front + back);
}

#endif
