/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse matrices of floats in compressed rows, made from hashes so that lanes can make them and the host knows them;
 * and the arguments of what multiplies them with vectors. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_SPARSE_H
#define FABRICVP_GPU_KERNELS_SPARSE_H

#include "gpu/kernels/arguments.h"
#include "gpu/kernels/random.h"

struct spmv_arguments {                /* y = A·x; spmv: a lane a row, pagerank: a wavefront a row */
    POINTER(const uint32_t) row_start; /* rows + 1 */
    POINTER(const uint32_t) column;
    POINTER(const float) value;
    POINTER(const float) x;
    POINTER(float) y;
    uint64_t rows;
};

struct sparse_arguments { /* a lane a row of the generated matrix */
    POINTER(const uint32_t) row_start;
    POINTER(uint32_t) column;
    POINTER(float) value;
    uint64_t rows;
    uint64_t shift; /* random_for_lanes(0) */
    float scale;    /* values are below it */
};

/* Entry i of `entries` of a row lies anywhere in the i-th part of the row: columns are uniform, rise, and never repeat.
 */
static inline uint64_t sparse_random(uint64_t row, uint32_t i, uint64_t shift) {
    return hash64((row << 32 | i) + shift);
}
static inline uint32_t sparse_column(uint64_t random, uint32_t i, uint32_t entries, uint64_t columns) {
    const uint64_t from = columns * i / entries, to = columns * (i + 1) / entries;
    return (uint32_t)(from + ((random >> 32) * (to - from) >> 32));
}
static inline float sparse_value(uint64_t random, float scale) { return (float)(random & 0xffffff) * 0x1p-24f * scale; }

#endif
