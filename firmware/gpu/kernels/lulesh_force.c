/* SPDX-License-Identifier: Apache-2.0 */
#include "hexahedron.h"

/* A lane an element: its pressure pushes each of its corners by a quarter of the faces there. */
KERNEL(lulesh_force, struct lulesh_arguments) {
    const size_t element = global_id(0), elements = args->elements;
    if (element >= elements) return;
    const struct hexahedron h = load_hexahedron(args, element);
    const double quarter = args->pressure[element] * 0.25;
    double push[3][LULESH_CORNERS];
#pragma GCC unroll 3
    for (unsigned d = 0; d < 3; ++d)
#pragma GCC unroll 8
        for (unsigned c = 0; c < LULESH_CORNERS; ++c) push[d][c] = 0;
#pragma GCC unroll 6
    for (unsigned f = 0; f < LULESH_FACES; ++f) {
        double normal[3];
        face_normal(&h, f, normal);
#pragma GCC unroll 3
        for (unsigned d = 0; d < 3; ++d)
#pragma GCC unroll 4
            for (unsigned c = 0; c < 4; ++c) push[d][lulesh_face[f][c]] += normal[d] * quarter;
    }
#pragma GCC unroll 3
    for (unsigned d = 0; d < 3; ++d)
#pragma GCC unroll 8
        for (unsigned c = 0; c < LULESH_CORNERS; ++c)
            args->force[(d * LULESH_CORNERS + c) * elements + element] = push[d][c];
}
