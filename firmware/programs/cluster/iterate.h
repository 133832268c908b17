/* SPDX-License-Identifier: Apache-2.0 */
/* Applications over all GPUs of two nodes, step by step: in each, kernels work on data that are spread over a node's
 * GPUs, and then each node gives the other one a part of what it has found. Who performs that, and where its queues
 * lie, is the scheme's. */
#ifndef FABRICVP_PROGRAMS_CLUSTER_ITERATE_H
#define FABRICVP_PROGRAMS_CLUSTER_ITERATE_H

#include "programs/compnet/backend.h"

enum iterate_work {
    ITERATE_JACOBI = 1, /* five points; each node has half of the grid's rows, and gives the row at its border */
    ITERATE_SPMV = 2,   /* x = A·x; each node has half of the rows, and gives its half of x */
    ITERATE_TRAIN = 3   /* a neural network; each node has images of its own, and gives its gradient */
};
extern const char* const iterate_work_names[]; /* `all` for 0, where no such work is asked for; then NULL */
enum { ITERATE_MAX_STEPS = 16, ITERATE_MAX_TRAINING_STEPS = 7, ITERATE_MAX_IMAGES = 256, ITERATE_MAX_NEURONS = 512 };
struct iterate {
    enum iterate_work work;
    enum backend_kind backend;
    enum backend_queue_placement queues;
    unsigned threads;
    uint64_t rows, columns; /* of a node's part of the grid; of the matrix: rows of all; of training: images of a node,
                             * a step, and neurons of the hidden layer */
    uint64_t steps;
};
/* \param queues one a GPU \returns whether every value is that of the host, to the bit */
bool iterate_run(struct bootstrap* bootstrap, struct gpu_node* node, struct gpu_queue_handle* queues,
                 const struct iterate* options);

#endif
