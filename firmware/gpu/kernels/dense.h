/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of the dense kernels. Matrices are of floats, by rows. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_DENSE_H
#define FABRICVP_GPU_KERNELS_DENSE_H

#include "gpu/kernels/arguments.h"

struct matvec_arguments { /* y += A·x (matvec_rows: a lane a row; matvec: a wavefront a row), y += Aᵀ·x (matvec_columns:
                             a lane a column) */
    POINTER(const float) a;
    POINTER(const float) x;
    POINTER(float) y;
    uint32_t rows, columns;
};

enum { SYR2K_TILE = 16 };
struct syr2k_arguments { /* C = alpha·A·Bᵀ + alpha·B·Aᵀ + beta·C; syr2k_tiled: on and below the diagonal, tiles of 16×16
                            through LDS, both factors 1 */
    POINTER(const float) a; /* n×m; syr2k_tiled: multiples of 16 */
    POINTER(const float) b;
    POINTER(float) c; /* n×n */
    uint32_t n, m;
    float alpha, beta;
};

struct im2col_arguments {       /* a lane an element of `columns` */
    POINTER(const float) image; /* [channels][batch][height][width] */
    POINTER(float) columns;     /* [channels·kernel·kernel][batch·out_height·out_width] */
    uint32_t channels, batch, height, width;
    uint32_t kernel, stride, pad, out_height, out_width;
};

struct sum_arguments { /* 64-bit words: the second stage of `reduction` */
    POINTER(const uint64_t) from;
    POINTER(uint64_t) partial; /* one a work-group of 256 */
    uint64_t n;
};

struct multigrid_arguments { /* n³ doubles; around them lie zeros that are not stored */
    POINTER(const double) from;
    POINTER(const double) right; /* hand side */
    POINTER(double) to;
    uint32_t n;
};

#endif
