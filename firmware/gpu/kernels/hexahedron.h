/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_GPU_KERNELS_HEXAHEDRON_H
#define FABRICVP_GPU_KERNELS_HEXAHEDRON_H

#define KERNEL_STACK 1024
#include "gpu.h"
#include "lulesh.h"

struct hexahedron {
    double at[3][LULESH_CORNERS];
};

GPU_INLINE struct hexahedron load_hexahedron(const struct lulesh_arguments* args, size_t element) {
    struct hexahedron h;
#pragma GCC unroll 8
    for (unsigned c = 0; c < LULESH_CORNERS; ++c) {
        const size_t node = args->corner[(size_t)c * args->elements + element];
#pragma GCC unroll 3
        for (unsigned d = 0; d < 3; ++d) h.at[d][c] = args->position[d * (size_t)args->nodes + node];
    }
    return h;
}

/* As long as the face is large: half the product of its diagonals. */
GPU_INLINE void face_normal(const struct hexahedron* h, unsigned f, double normal[3]) {
    double a[3], b[3];
#pragma GCC unroll 3
    for (unsigned d = 0; d < 3; ++d) {
        a[d] = h->at[d][lulesh_face[f][2]] - h->at[d][lulesh_face[f][0]];
        b[d] = h->at[d][lulesh_face[f][3]] - h->at[d][lulesh_face[f][1]];
    }
#pragma GCC unroll 3
    for (unsigned d = 0; d < 3; ++d)
        normal[d] = 0.5 * (a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3]);
}

#endif
