/* SPDX-License-Identifier: Apache-2.0 */
#include "rdma_serve.h"
#include "gpu.h"

enum { PITCH = SERVE_ROWS + 1 }; /* so that lanes that read a column meet different banks */
LDS float matrix[SERVE_ROWS * PITCH];
LDS struct pgas_link link; /* of the first lane; in its stack, each acquire would have it fetched anew */

static void multiply(const struct rdma_serve_arguments* a) {
    const uint64_t vectors = a->bytes / group_count(0) / SERVE_VECTOR, begin = group_id(0) * vectors,
                   step = group_size(0) / SERVE_ROWS;
    const unsigned row = local_id(0) % SERVE_ROWS;
    for (uint64_t v = begin + local_id(0) / SERVE_ROWS; v < begin + vectors; v += step) {
        const float* x = a->in + v * SERVE_ROWS;
        float sum = 0;
        for (unsigned k = 0; k < SERVE_ROWS; ++k) sum += matrix[row * PITCH + k] * x[k];
        a->out[v * SERVE_ROWS + row] = sum;
    }
}

/* What one lane does for its work-group. It computes here what it alone needs, so that all lanes do not keep it in
 * their stacks. */
GPU_APART void receive(const struct rdma_serve_arguments* a, uint64_t round) {
    pgas_wait(&link, a->own ? group_id(0) : 0, round); /* L1 is this work-group's too */
}
GPU_APART void reply(const struct rdma_serve_arguments* a, uint64_t round) {
    const uint64_t bytes = a->bytes / group_count(0), offset = group_id(0) * bytes;
    if (bytes)
        pgas_write_notify(&link, a->out_offset + offset, a->result_offset + (round & 1) * a->result_stride + offset,
                          bytes, group_id(0), round);
    else
        pgas_notify(&link, group_id(0), round);
}
GPU_APART void finish(const struct rdma_serve_arguments* a) {
    pgas_flush(&link);
    a->links[group_id(0)] = link;
}

/* Each work-group has its part of every batch, and a queue pair to send it back. */
KERNEL(rdma_serve, struct rdma_serve_arguments) {
    const bool communicates = args->links && local_id(0) == 0;
    if (communicates) link = args->links[group_id(0)];
    if (args->task == SERVE_MATVEC)
        for (unsigned i = local_id(0); i < SERVE_ROWS * SERVE_ROWS; i += group_size(0))
            matrix[i / SERVE_ROWS * PITCH + i % SERVE_ROWS] = args->matrix[i];
    barrier();
    for (uint64_t round = args->first_round; round < args->first_round + args->rounds; ++round) {
        if (gpu_rarely(communicates)) receive(args, round);
        barrier();
        if (args->task == SERVE_MATVEC) multiply(args);
        barrier();
        if (gpu_rarely(communicates)) reply(args, round);
    }
    if (gpu_rarely(communicates)) finish(args);
}
