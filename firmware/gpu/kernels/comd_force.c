/* SPDX-License-Identifier: Apache-2.0 */
#include "comd.h"
#include "gpu.h"

GPU_INLINE double nearest(double d, double side) { return d > 0.5 * side ? d - side : d < -0.5 * side ? d + side : d; }

KERNEL(comd_force, struct comd_arguments) {
    const size_t i = global_id(0), places = args->places;
    if (i >= args->atoms) return;
    const uint32_t own = args->atom[i];
    const double *x = args->position, *y = x + places, *z = y + places;
    const double side = args->side, square_cutoff = args->cutoff * args->cutoff, ox = x[own], oy = y[own], oz = z[own];
    double fx = 0, fy = 0, fz = 0, energy = 0;
    const uint32_t* neighbour = args->neighbour + own / COMD_SLOTS * COMD_NEIGHBOURS;
    for (unsigned n = 0; n < COMD_NEIGHBOURS; ++n) {
        const uint32_t first = neighbour[n] * COMD_SLOTS, end = first + args->count[neighbour[n]];
        for (uint32_t other = first; other < end; ++other) {
            const double dx = nearest(ox - x[other], side), dy = nearest(oy - y[other], side),
                         dz = nearest(oz - z[other], side);
            const double square = dx * dx + dy * dy + dz * dz;
            if (square > square_cutoff || other == own) continue;
            const double inverse = 1 / square, sixth = inverse * inverse * inverse;
            const double pull = sixth * (48 * sixth - 24) * inverse;
            energy += 2 * sixth * (sixth - 1);
            fx += dx * pull;
            fy += dy * pull;
            fz += dz * pull;
        }
    }
    args->force[own] = fx;
    args->force[places + own] = fy;
    args->force[2 * places + own] = fz;
    args->energy[own] = energy;
}
