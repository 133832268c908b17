/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "lulesh.h"

/* A lane a node: gathers the forces of the elements around it, and moves. Nodes on the planes x, y, z = 0 stay on them.
 */
KERNEL(lulesh_motion, struct lulesh_arguments) {
    const size_t node = global_id(0), nodes = args->nodes, elements = args->elements;
    if (node >= nodes) return;
    double force[3] = {0, 0, 0};
    for (uint32_t k = args->row_start[node], end = args->row_start[node + 1]; k < end; ++k) {
        const size_t place = args->place[k];
#pragma GCC unroll 3
        for (unsigned d = 0; d < 3; ++d) force[d] += args->force[d * LULESH_CORNERS * elements + place];
    }
    const double step = args->step, mass = args->mass[node];
#pragma GCC unroll 3
    for (unsigned d = 0; d < 3; ++d) {
        const size_t at = d * nodes + node;
        const double position = args->position[at];
        if (position == 0) continue;
        const double velocity = args->velocity[at] + force[d] / mass * step;
        args->velocity[at] = velocity;
        args->position[at] = position + velocity * step;
    }
}
