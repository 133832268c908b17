/* SPDX-License-Identifier: Apache-2.0 */
/* Hexahedra of a gas that move with it. Arrays hold one corner or dimension of all elements after the other. Plain C99.
 */
#ifndef FABRICVP_GPU_KERNELS_LULESH_H
#define FABRICVP_GPU_KERNELS_LULESH_H

#include "gpu/kernels/arguments.h"

enum { LULESH_CORNERS = 8, LULESH_FACES = 6 };
struct lulesh_arguments {
    POINTER(const uint32_t) corner;    /* [corner][element]: nodes */
    POINTER(const uint32_t) row_start; /* nodes + 1 */
    POINTER(const uint32_t) place;     /* by rows: where the forces of a node's elements on it stand in `force` */
    POINTER(double) position;          /* [dimension][node] */
    POINTER(double) velocity;
    POINTER(const double) mass; /* [node] */
    POINTER(double) force;      /* [dimension][corner][element] */
    POINTER(double) volume;     /* [element] */
    POINTER(double) energy;
    POINTER(double) pressure;
    uint32_t elements, nodes;
    double step; /* of time */
};
#define LULESH_GAMMA_1 (2.0 / 3) /* adiabatic exponent less 1 */

/* Corners of each face, so that its normal points outwards. */
static const uint8_t lulesh_face[LULESH_FACES][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                                     {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};

#endif
