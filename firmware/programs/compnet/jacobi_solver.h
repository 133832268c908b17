/* SPDX-License-Identifier: Apache-2.0 */
/* What the backends of Jacobi's method have in common: which agent computes, and which one communicates. */
#ifndef FABRICVP_PROGRAMS_COMPNET_JACOBI_SOLVER_H
#define FABRICVP_PROGRAMS_COMPNET_JACOBI_SOLVER_H

#include "gpu/kernels/network.h"
#include "programs/compnet/host_endpoint.h"
#include "programs/compnet/jacobi.h"
#include "programs/compnet/stream.h"

struct solver {
    struct backend backend;
    const struct jacobi_options* o;
    struct host_endpoint host_endpoint;
    unsigned rank, nodes;
    uint64_t grid_bytes; /* of one of the two */
    uint32_t* change;    /* by iteration, from 1 on */
    /* of the CPUs */
    volatile uint32_t arrived, released;
    volatile uint32_t max_change[64];
};

static inline uint64_t pitch_of(const struct solver* s) { return 4 * s->o->columns; }
static inline uint64_t row_at(const struct solver* s, uint32_t iteration, uint64_t row) {
    return (iteration & 1) * s->grid_bytes + row * pitch_of(s);
}
static inline uint64_t halo_at(unsigned below) { return offsetof(struct jacobi_flags, halo) + 8 * below; }
static inline uint64_t change_at(unsigned step, uint32_t iteration) {
    return offsetof(struct jacobi_flags, all.max_flags[0][0]) + 16 * step + 8 * (iteration & 1);
}

/* On the GPU. */
struct gpu_side {
    struct gpu_queue_handle* queue;
    struct rdma_buffer sync, change; /* change: where the host reads it */
    struct stream stream;            /* where the queue talks */
};
struct gpu_kernel jacobi_kernel(struct gpu_node* node);
/* Of a launch for some iterations. */
struct network_jacobi_arguments jacobi_arguments(const struct solver* s, const struct gpu_side* g, uint32_t first,
                                                 uint32_t iterations);
struct gpu_grid jacobi_grid(const struct solver* s);

/* Launches and messages in turn, all in the GPU's queue. */
void jacobi_stream_begin(struct solver* s, struct gpu_side* g);
/* \returns whether all ended well */
bool jacobi_stream(struct solver* s, struct gpu_side* g);

#endif
