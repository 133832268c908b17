/* SPDX-License-Identifier: Apache-2.0 */
#include "comd.h"
#include "gpu.h"

/* Atoms of mass 1. They stay in their cells: a step is too short to leave one. */
KERNEL(comd_advance, struct comd_arguments) {
    const size_t i = global_id(0), places = args->places;
    if (i >= args->atoms) return;
    for (size_t at = args->atom[i], end = at + 3 * places; at < end; at += places) {
        const double velocity = args->velocity[at] + args->step * args->force[at];
        args->velocity[at] = velocity;
        args->position[at] += args->step * velocity;
    }
}
