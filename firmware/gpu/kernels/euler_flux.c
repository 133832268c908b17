/* SPDX-License-Identifier: Apache-2.0 */
#include "gas.h"

/* Half of what flows here and there, and what smooths differences, through each face. */
KERNEL(euler_flux, struct euler_arguments) {
    const size_t cells = args->cells, cell = global_id(0);
    if (cell >= cells) return;
    const struct values own = load_values(args->value, cell, cells);
    const struct gas gas = gas_of(own);
    struct values sum = {{0, 0, 0, 0, 0}};
    for (unsigned face = 0; face < EULER_FACES; ++face) {
        float normal[3];
#pragma GCC unroll 3
        for (unsigned d = 0; d < 3; ++d) normal[d] = args->normal[(d * EULER_FACES + face) * cells + cell];
        const int32_t neighbour = args->neighbour[face * cells + cell];
        if (neighbour == EULER_WALL) {
#pragma GCC unroll 3
            for (unsigned d = 0; d < 3; ++d) sum.of[1 + d] += normal[d] * gas.pressure;
            continue;
        }
        struct values other = {{EULER_FAR_DENSITY, EULER_FAR_MOMENTUM, 0, 0, EULER_FAR_ENERGY}};
        if (neighbour >= 0) other = load_values(args->value, (uint32_t)neighbour, cells);
        const struct gas beside = gas_of(other);
        if (neighbour >= 0) {
            const float length =
                euler_square_root(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
            const float smooth =
                -length * EULER_SMOOTHING * 0.5f * (gas.speed + beside.speed + gas.sound + beside.sound);
#pragma GCC unroll 5
            for (unsigned i = 0; i < EULER_VALUES; ++i) sum.of[i] += smooth * (own.of[i] - other.of[i]);
        }
#pragma GCC unroll 3
        for (unsigned d = 0; d < 3; ++d) {
            const struct values here = flow(own, gas, d), there = flow(other, beside, d);
#pragma GCC unroll 5
            for (unsigned i = 0; i < EULER_VALUES; ++i) sum.of[i] += 0.5f * normal[d] * (there.of[i] + here.of[i]);
        }
    }
#pragma GCC unroll 5
    for (unsigned i = 0; i < EULER_VALUES; ++i) args->flux[i * cells + cell] = sum.of[i];
}
