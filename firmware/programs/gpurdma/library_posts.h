/* SPDX-License-Identifier: Apache-2.0 */
/* A hart that posts as applications do: through the verbs library, a doorbell for each call. */
#ifndef FABRICVP_PROGRAMS_GPURDMA_LIBRARY_POSTS_H
#define FABRICVP_PROGRAMS_GPURDMA_LIBRARY_POSTS_H

#include "drivers/gpu_rdma/endpoint.h"
#include "gpu/kernels/rdma.h"

/* All messages of all queue pairs, the queue pairs in turn: a call posts `batch` requests, as far as `window` lets it,
 * and polls. \param a addresses are the host's; lanes is 1; RDMA_REUSE and RDMA_TIMED have no effect */
void post_by_library(struct endpoint* e, const struct rdma_writes_arguments* a);

#endif
