/* SPDX-License-Identifier: Apache-2.0 */
/* Euler's equations of a gas on cells with four faces each, in any order. Arrays hold one component of all cells after
 * the other. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_EULER_H
#define FABRICVP_GPU_KERNELS_EULER_H

#include "gpu/kernels/arguments.h"

enum { EULER_FACES = 4, EULER_VALUES = 5 };            /* density, momentum in x, y, z, energy; all by volume */
enum euler_border { EULER_WALL = -1, EULER_FAR = -2 }; /* in the place of a neighbour */
#define EULER_GAMMA 1.4f
#define EULER_SMOOTHING 0.2f
/* Undisturbed flow at Mach 1.2 along x, at a density of 1.4 and a pressure of 1. */
#define EULER_FAR_DENSITY 1.4f
#define EULER_FAR_MOMENTUM (1.2f * EULER_FAR_DENSITY)
#define EULER_FAR_ENERGY (EULER_FAR_DENSITY * (0.5f * (1.2f * 1.2f)) + 1.0f / (EULER_GAMMA - 1))

struct euler_arguments {              /* a lane a cell */
    POINTER(const int32_t) neighbour; /* [face][cell], or enum euler_border */
    POINTER(const float) normal;      /* [dimension][face][cell], as long as the face is large */
    POINTER(const float) area;        /* [cell] */
    POINTER(float) value;             /* [value][cell] */
    POINTER(const float) old;         /* the same before the time step */
    POINTER(float) flux;
    POINTER(float) factor; /* [cell]: time step by volume */
    uint32_t cells;
    float share; /* of the time step, in this stage */
};

static inline float euler_square_root(float x) {
    float root;
    __asm__("fsqrt.s %0, %1" : "=f"(root) : "f"(x));
    return root;
}

#endif
