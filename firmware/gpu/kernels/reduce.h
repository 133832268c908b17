/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_GPU_KERNELS_REDUCE_H
#define FABRICVP_GPU_KERNELS_REDUCE_H

#include "gpu.h"

enum { REDUCE_GROUP = 256 };

/* Sum over the work-group's 256 items, the same for all of them. `scratch` is LDS for 256 floats. */
GPU_INLINE float group_sum(float own, float* scratch) {
    const size_t lane = local_id(0);
    barrier();
    scratch[lane] = own;
    for (size_t half = REDUCE_GROUP / 2; half; half /= 2) {
        barrier();
        if (lane < half) scratch[lane] += scratch[lane + half];
    }
    barrier();
    return scratch[0];
}

#endif
