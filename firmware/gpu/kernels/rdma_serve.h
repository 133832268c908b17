/* SPDX-License-Identifier: Apache-2.0 */
/* A worker that gets batches, does something with them and sends results back. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_RDMA_SERVE_H
#define FABRICVP_GPU_KERNELS_RDMA_SERVE_H

#include "arguments.h"
#include "gpu/pgas/pgas.h"

enum { SERVE_ROWS = 32, SERVE_VECTOR = 4 * SERVE_ROWS }; /* vectors and matrix: floats */
enum serve_task { SERVE_ECHO, SERVE_MATVEC };

struct rdma_serve_arguments {
    POINTER(struct pgas_link) links; /* one a work-group; 0: nothing is waited for or sent, one round */
    POINTER(const float) matrix;     /* SERVE_ROWS × SERVE_ROWS */
    POINTER(const float) in;         /* where batches arrive */
    POINTER(float) out;
    uint64_t out_offset; /* of `out` in the segment; echoed: of `in` */
    uint64_t result_offset,
        result_stride; /* offsets at the master: of results of even rounds, of odd ones behind them */
    uint64_t bytes;    /* of a batch; a work-group has as much as any other one */
    uint32_t first_round, rounds;
    uint32_t task; /* enum serve_task */
    uint32_t own;  /* 1: each work-group waits for a notification of its own, else all for the first */
};

#endif
