/* SPDX-License-Identifier: Apache-2.0 */
#include "hexahedron.h"

/* A lane an element: its volume, by the flow of position through its faces; the work that its pressure has done; the
 * pressure of what energy is left. */
KERNEL(lulesh_element, struct lulesh_arguments) {
    const size_t element = global_id(0), elements = args->elements;
    if (element >= elements) return;
    const struct hexahedron h = load_hexahedron(args, element);
    double volume = 0;
#pragma GCC unroll 6
    for (unsigned f = 0; f < LULESH_FACES; ++f) {
        double normal[3];
        face_normal(&h, f, normal);
#pragma GCC unroll 3
        for (unsigned d = 0; d < 3; ++d) {
            const double* x = h.at[d];
            const double middle =
                ((x[lulesh_face[f][0]] + x[lulesh_face[f][1]]) + (x[lulesh_face[f][2]] + x[lulesh_face[f][3]])) * 0.25;
            volume += middle * normal[d] / 3;
        }
    }
    const double energy = args->energy[element] - args->pressure[element] * (volume - args->volume[element]);
    args->volume[element] = volume;
    args->energy[element] = energy;
    args->pressure[element] = LULESH_GAMMA_1 * energy / volume;
}
