/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of algebraic multigrid: everything is a sparse matrix of doubles in compressed rows. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_AMG_H
#define FABRICVP_GPU_KERNELS_AMG_H

#include "gpu/kernels/arguments.h"

struct amg_arguments {                 /* a lane a row */
    POINTER(const uint32_t) row_start; /* rows + 1 */
    POINTER(const uint32_t) column;
    POINTER(const double) value; /* of matrices to be relaxed, the diagonal stands first in each row */
    POINTER(const double) right; /* hand side */
    POINTER(const double) from;
    POINTER(double) to;
    uint32_t rows;
};
#define AMG_WEIGHT (2.0 / 3) /* of a step of Jacobi */

#endif
