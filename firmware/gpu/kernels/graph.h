/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs in compressed rows, and sparse matrices made from hashes. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_GRAPH_H
#define FABRICVP_GPU_KERNELS_GRAPH_H

#include "gpu/kernels/arguments.h"
#include "gpu/kernels/random.h"

/* R-MAT with probabilities 0.57, 0.19, 0.1875, 0.0525, drawn row by row: how many edges a vertex has is their expected
 * number, rounded at random; where each goes is drawn under the condition of the source's bits: a bit of the target is 1
 * with probability 1/4 where the source's is 0, else 7/32. */
#define RMAT_ZERO 0.76 /* that a bit of the source is 0 */
enum { RMAT_SCALE_MOST = 25 };

/* Target of edge number `edge`, which leaves `source`; all bits at once. */
static inline uint32_t rmat_target(uint32_t source, uint64_t edge, unsigned scale) {
    const uint64_t a = hash64(2 * edge), b = hash64(2 * edge + 1);
    const uint32_t quarter = (uint32_t)a & (uint32_t)(a >> 32), seven_eighths = (uint32_t)b | (uint32_t)(b >> 16) | (uint32_t)(b >> 32);
    return quarter & (~source | seven_eighths) & ((1u << scale) - 1);
}

enum { RMAT_HINT = 64 };
struct rmat_arguments {       /* a lane an edge */
    POINTER(const uint32_t) row_start;
    POINTER(const uint32_t) hint; /* row of edge 0, 64, 128, … and the last edge */
    POINTER(uint32_t) target;
    POINTER(uint32_t) source;     /* 0: not wanted */
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
enum { PAGERANK_GROUP = 256 };
struct pagerank_arguments {   /* a work-group 256 vertices, its lanes go through all their edges together */
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
/* Luby's algorithm, a lane an edge or a vertex. */
enum mis_state { MIS_OPEN = 0, MIS_IN = 1, MIS_OUT = 2 };
struct mis_arguments {
    POINTER(const uint32_t) source; /* of edges; each is stored once and counts both ways */
    POINTER(const uint32_t) target;
    POINTER(uint32_t) state;      /* enum mis_state */
    POINTER(uint32_t) blocked;    /* 1: a neighbour goes first */
    POINTER(uint32_t) open;       /* counter of vertices that stay open */
    uint64_t edges;
    uint32_t vertices;
};
/* Which of two neighbours goes first: the order of these. */
static inline uint64_t mis_priority(uint32_t v) { return (hash64(v) & ~0xffffffffull) | v; }

#endif
