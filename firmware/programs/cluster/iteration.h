/* SPDX-License-Identifier: Apache-2.0 */
/* What the applications of iterate.h have in common, and the one that trains. */
#ifndef FABRICVP_PROGRAMS_CLUSTER_ITERATION_H
#define FABRICVP_PROGRAMS_CLUSTER_ITERATION_H

#include "programs/apps/app.h"
#include "programs/apps/matrix.h"
#include "programs/cluster/iterate.h"
#include "programs/compnet/host_endpoint.h"

struct iteration {
    struct app app;
    const struct iterate* o;
    struct backend backend;
    struct host_endpoint host_endpoint;
    struct rdma_buffer failed;
    unsigned rank;
    uint64_t bytes;      /* that a node gives */
    unsigned groups;     /* work-groups that pack and unpack that */
    bool adds;           /* what is taken is added to what is there: floats */
    gpu_address data[2]; /* by step: read in even ones and written in odd ones, and the other way round */
    uint64_t from, to;   /* in what was written: what is given, and where what is taken goes to */
    struct matrix m;
    struct spmv_arguments a;
};

/* Training: each node has images of its own, and gives its gradient. */
void train_start(struct iteration* t);
bool train_compute(uint64_t step); /* loss and gradient */
bool train_update(void);           /* with the sum of both gradients */
/* Whether the host finds the loss that the GPUs find, it fell as the gradient says, and both nodes have the same
 * parameters, to the bit. */
bool train_is_correct(struct iteration* t);

#endif
