/* SPDX-License-Identifier: Apache-2.0 */
#include "dense.h"
#include "gpu.h"

enum { GROUP = 256, WAVEFRONT = 64 };

KERNEL(matvec, struct matvec_arguments) {
    LDS float part[GROUP];
    const size_t lane = local_id(0) % WAVEFRONT, row = group_id(0) * (GROUP / WAVEFRONT) + local_id(0) / WAVEFRONT;
    float sum = 0;
    if (row < args->rows) {
        const float* a = args->a + row * args->columns;
        for (size_t column = lane; column < args->columns; column += WAVEFRONT) sum += a[column] * args->x[column];
    }
    part[local_id(0)] = sum;
    for (size_t half = WAVEFRONT / 2; half; half /= 2) {
        barrier();
        if (lane < half) part[local_id(0)] += part[local_id(0) + half];
    }
    if (lane == 0 && row < args->rows) args->y[row] += part[local_id(0)];
}
