/* SPDX-License-Identifier: Apache-2.0 */
/* Atoms in link cells with the potential of Lennard and Jones. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_COMD_H
#define FABRICVP_GPU_KERNELS_COMD_H

#include "gpu/kernels/arguments.h"

enum {
    COMD_SLOTS = 64,
    COMD_NEIGHBOURS = 27
};                                     /* atoms that a cell has room for; cells around one, itself among them */
struct comd_arguments {                /* a lane an atom */
    POINTER(const uint32_t) atom;      /* where each atom stands: cell × COMD_SLOTS + slot */
    POINTER(const uint32_t) neighbour; /* [cell][COMD_NEIGHBOURS] */
    POINTER(const uint32_t) count;     /* atoms of each cell */
    POINTER(double) position;          /* [dimension][cell × COMD_SLOTS + slot] */
    POINTER(double) velocity;
    POINTER(double) force;
    POINTER(double) energy; /* half of that of each pair */
    uint32_t atoms, places; /* places = cells × COMD_SLOTS */
    double cutoff, side;    /* of a cell is the cutoff, `side` that of all, which repeats itself */
    double step;            /* of time */
};

#endif
