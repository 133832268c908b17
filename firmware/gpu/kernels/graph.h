/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs in compressed rows, and sparse matrices made from hashes. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_GRAPH_H
#define FABRICVP_GPU_KERNELS_GRAPH_H

#include "gpu/kernels/arguments.h"
#include "gpu/kernels/random.h"

/* R-MAT with probabilities 0.57, 0.19, 0.19, 0.05, drawn row by row: how many edges a vertex has is their expected
 * number, rounded at random; where each goes is drawn bit by bit under the condition of the source's bits. */
#define RMAT_ZERO 0.76                                /* that a bit of the source is 0 */
enum { RMAT_TARGET_ONE_0 = 64, RMAT_TARGET_ONE_1 = 53 };  /* of 256: that the target's bit is 1 where the source's is 0, 1 */

/* Target of edge number `edge`, which leaves `source`. */
static inline uint32_t rmat_target(uint32_t source, uint64_t edge, unsigned scale) {
    uint32_t target = 0;
    uint64_t random = 0;
    for (unsigned bit = 0; bit < scale; ++bit) {
        if (bit % 8 == 0) random = hash64(edge * 4 + bit / 8);
        target |= (uint32_t)((random & 255) < (source >> bit & 1 ? RMAT_TARGET_ONE_1 : RMAT_TARGET_ONE_0)) << bit;
        random >>= 8;
    }
    return target;
}

enum { RMAT_HINT = 64 };
struct rmat_arguments {       /* a lane an edge */
    POINTER(const uint32_t) row_start;
    POINTER(const uint32_t) hint; /* row of edge 0, 64, 128, … and the last edge */
    POINTER(uint32_t) target;
    uint64_t edges;
    uint32_t scale;
};

struct sparse_arguments {     /* a lane a row of the generated matrix for spmv */
    POINTER(const uint32_t) row_start;
    POINTER(uint32_t) column;
    POINTER(double) value;
    uint64_t rows;
};
enum { SPARSE_ROW_MOST = 16 };
static inline uint32_t sparse_row_entries(uint64_t row) { return 1 + (uint32_t)(hash64(~row) % SPARSE_ROW_MOST); }
static inline uint64_t sparse_random(uint64_t row, uint32_t i) { return hash64(row * SPARSE_ROW_MOST + i); }
static inline uint32_t sparse_column(uint64_t row, uint64_t random, uint64_t rows) {
    const uint64_t column = random & 1 ? row + (random >> 1 & 63) : (random >> 32) * rows >> 32;
    return (uint32_t)(column < rows ? column : column - rows);
}
static inline double sparse_value(uint64_t random) { return (double)(int)(random >> 8 & 255) / 16; }

/* Ranks and shares are fixed-point numbers with PAGERANK_BITS behind the point, so that sums do not depend on order. */
enum { PAGERANK_BITS = 20, PAGERANK_DAMPING = 871, PAGERANK_DAMPING_BITS = 10 };  /* 0.85 */
struct pagerank_arguments {   /* a wavefront a vertex: gathers the shares of the vertices that its row names */
    POINTER(const uint32_t) row_start;
    POINTER(const uint32_t) target;
    POINTER(const uint32_t) share;  /* rank ÷ number of edges */
    POINTER(uint32_t) rank;
    uint32_t vertices;
};
struct pagerank_share_arguments { /* a lane a vertex */
    POINTER(const uint32_t) degree; /* how many rows name it */
    POINTER(const uint32_t) rank;
    POINTER(uint32_t) share;
    uint32_t vertices;
};
static inline uint32_t pagerank_new(uint64_t sum) {
    return (((1u << PAGERANK_DAMPING_BITS) - PAGERANK_DAMPING) << (PAGERANK_BITS - PAGERANK_DAMPING_BITS)) +
           (uint32_t)(sum * PAGERANK_DAMPING >> PAGERANK_DAMPING_BITS);
}
struct degree_arguments {     /* counts with atomics how often each vertex is a target */
    POINTER(const uint32_t) target;
    POINTER(uint32_t) degree;
    uint64_t edges;
};

/* Luby's algorithm, a lane a vertex. */
enum mis_state { MIS_OPEN = 0, MIS_IN = 1, MIS_OUT = 2 };
struct mis_arguments {
    POINTER(const uint32_t) row_start;
    POINTER(const uint32_t) target;
    POINTER(uint32_t) state;      /* enum mis_state */
    POINTER(uint32_t) blocked;    /* 1: a neighbour goes first */
    POINTER(uint32_t) open;       /* counter of vertices that stay open */
    uint32_t vertices;
};
/* Which of two neighbours goes first: the order of these. */
static inline uint64_t mis_priority(uint32_t v) { return (hash64(v) & ~0xffffffffull) | v; }

#endif
