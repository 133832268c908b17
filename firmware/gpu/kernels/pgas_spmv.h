/* SPDX-License-Identifier: Apache-2.0 */
/* A sparse matrix times a vector, again and again: each node has some rows, and the part of the vector that belongs to
 * them. What its rows need of other parts it reads from their nodes before it multiplies. For lanes and for harts. */
#ifndef FABRICVP_GPU_KERNELS_PGAS_SPMV_H
#define FABRICVP_GPU_KERNELS_PGAS_SPMV_H

#include "arguments.h"
#include "gpu/pgas/reduce.h"

struct spmv_range { /* of a node's part: elements of the whole vector */
    uint32_t first, count;
};
struct pgas_spmv_arguments {
    POINTER(struct pgas_context) contexts; /* the first work-group's */
    POINTER(struct grid_barrier) grid;
    POINTER(uint64_t) cycles;       /* of it: all, waiting for other parts */
    POINTER(const uint32_t) starts; /* of each row, and of the end */
    POINTER(const uint32_t) columns;
    POINTER(const float) weights;
    uint64_t vector[2];   /* offsets of whole vectors: read in even iterations, in odd ones */
    uint32_t first, rows; /* of this node */
    uint32_t iterations, reserved;
    struct spmv_range needed[PGAS_MAX_RANKS];
};

/* One row's product, in the order of its elements: the same float everywhere. */
RDMA_INLINE float spmv_row(const uint32_t* columns, const float* weights, uint32_t begin, uint32_t end,
                           const float* x) {
    float sum = 0;
    for (uint32_t k = begin; k < end; ++k) sum += weights[k] * x[columns[k]];
    return sum;
}

RDMA_APART bool spmv_fetch(const struct pgas_spmv_arguments* a, struct pgas_context* g, uint64_t vector) {
    for (unsigned i = 1; i < g->comm.size; ++i) {
        const unsigned r = (g->comm.rank + i) % g->comm.size;
        const uint64_t at = vector + 4ull * a->needed[r].first;
        if (a->needed[r].count && !pgas_read(&g->link[r], at, at, 4 * a->needed[r].count))
            return pgas_fail(g, r, PGAS_SLOT_COMPLETION);
    }
    return pgas_flush_all(g);
}

RDMA_INLINE void pgas_spmv_run(const struct pgas_spmv_arguments* a, struct pgas_context* g) {
    struct pgas_context* const stored = (struct pgas_context*)(uintptr_t)a->contexts;
    struct grid_barrier* const grid = (struct grid_barrier*)(uintptr_t)a->grid;
    const uint32_t* const starts = (const uint32_t*)(uintptr_t)a->starts;
    const bool leads = wg_id() == 0 && wg_is_leader();
    uint64_t fetching = 0;
    wg_copy_context(g, stored);
    const uint64_t begin = rdma_cycles();
    for (uint32_t i = 0; i < a->iterations; ++i) {
        const uint64_t then = rdma_cycles();
        if (leads) {
            grid->stop =
                !pgas_barrier_all(g) || !spmv_fetch(a, g, a->vector[i & 1]); /* met: what it reads is there, and of the
                                                                         other vector nothing is read any more */
            fetching += rdma_cycles() - then;
        }
        if (!grid_barrier_wait(grid, 2 * i + 1)) break;
        const float* x = pgas_float_address(g, a->vector[i & 1]);
        float* y = pgas_float_address(g, a->vector[(i + 1) & 1]) + a->first;
        for (uint32_t row = wg_id() * wg_size() + wg_local_id(); row < a->rows; row += wg_count() * wg_size())
            y[row] = spmv_row((const uint32_t*)(uintptr_t)a->columns, (const float*)(uintptr_t)a->weights, starts[row],
                              starts[row + 1], x);
        grid_barrier_wait(grid, 2 * i + 2);
    }
    if (leads) {
        pgas_barrier_all(g);
        ((uint64_t*)(uintptr_t)a->cycles)[0] = rdma_cycles() - begin;
        ((uint64_t*)(uintptr_t)a->cycles)[1] = fetching;
    }
    if (wg_id() == 0) wg_copy_context(stored, g);
}

#endif
