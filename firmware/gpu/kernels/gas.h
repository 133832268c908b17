/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_GPU_KERNELS_GAS_H
#define FABRICVP_GPU_KERNELS_GAS_H

#include "euler.h"
#include "gpu.h"

struct values {
    float of[EULER_VALUES];
};
struct gas {
    float velocity[3], speed, pressure, sound;
};

GPU_INLINE struct values load_values(const float* from, size_t cell, size_t cells) {
    struct values v;
#pragma GCC unroll 5
    for (unsigned i = 0; i < EULER_VALUES; ++i) v.of[i] = from[i * cells + cell];
    return v;
}

GPU_INLINE struct gas gas_of(struct values v) {
    struct gas g;
#pragma GCC unroll 3
    for (unsigned d = 0; d < 3; ++d) g.velocity[d] = v.of[1 + d] / v.of[0];
    const float square = g.velocity[0] * g.velocity[0] + g.velocity[1] * g.velocity[1] + g.velocity[2] * g.velocity[2];
    g.speed = euler_square_root(square);
    g.pressure = (EULER_GAMMA - 1) * (v.of[4] - 0.5f * v.of[0] * square);
    g.sound = euler_square_root(EULER_GAMMA * g.pressure / v.of[0]);
    return g;
}

/* What flows along a dimension: of density, momentum, energy. */
GPU_INLINE struct values flow(struct values v, struct gas g, unsigned d) {
    struct values f;
    f.of[0] = v.of[1 + d];
#pragma GCC unroll 3
    for (unsigned e = 0; e < 3; ++e)
        f.of[1 + e] = e == d ? v.of[1 + e] * g.velocity[d] + g.pressure : v.of[1 + e] * g.velocity[d];
    f.of[4] = g.velocity[d] * (v.of[4] + g.pressure);
    return f;
}

#endif
