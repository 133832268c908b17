/* SPDX-License-Identifier: Apache-2.0 */
#include "rdma_serve.h"
#include "gpu.h"

enum { PITCH = SERVE_ROWS + 1 }; /* so that lanes that read a column meet different banks */
LDS float matrix[SERVE_ROWS * PITCH];

static void multiply(const struct rdma_serve_arguments* a, uint64_t bytes) {
    const uint64_t vectors = bytes / SERVE_VECTOR, begin = group_id(0) * vectors, step = group_size(0) / SERVE_ROWS;
    const unsigned row = local_id(0) % SERVE_ROWS;
    for (uint64_t v = begin + local_id(0) / SERVE_ROWS; v < begin + vectors; v += step) {
        const float* x = a->in + v * SERVE_ROWS;
        float sum = 0;
        for (unsigned k = 0; k < SERVE_ROWS; ++k) sum += matrix[row * PITCH + k] * x[k];
        a->out[v * SERVE_ROWS + row] = sum;
    }
}

/* Each work-group has its part of every batch, and a queue pair to send it back. */
KERNEL(rdma_serve, struct rdma_serve_arguments) {
    const uint64_t bytes = args->bytes / group_count(0), offset = group_id(0) * bytes;
    const bool is_leader = local_id(0) == 0;
    struct pgas_link link;
    if (args->links && is_leader) link = args->links[group_id(0)];
    if (args->task == SERVE_MATVEC)
        for (unsigned i = local_id(0); i < SERVE_ROWS * SERVE_ROWS; i += group_size(0))
            matrix[i / SERVE_ROWS * PITCH + i % SERVE_ROWS] = args->matrix[i];
    barrier();
    for (uint64_t round = args->first_round; round < args->first_round + args->rounds; ++round) {
        const unsigned slot = args->own ? group_id(0) : 0;
        if (args->links && is_leader) pgas_wait(&link, slot, round); /* L1 is this work-group's too */
        barrier();
        if (args->task == SERVE_MATVEC) multiply(args, bytes);
        barrier();
        if (!args->links || !is_leader) continue;
        const uint64_t result_offset = args->result_offset + (round & 1) * args->result_stride + offset;
        if (bytes)
            pgas_write_notify(&link, args->out_offset + offset, result_offset, bytes, group_id(0), round);
        else
            pgas_notify(&link, group_id(0), round);
    }
    if (!args->links || !is_leader) return;
    pgas_flush(&link);
    args->links[group_id(0)] = link;
}
