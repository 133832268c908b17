/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_HOST_APPS_GRAPH_H
#define FABRICVP_HOST_APPS_GRAPH_H

#include "gpu/kernels/graph.h"
#include "host/apps/app.h"

struct graph {
    unsigned scale;
    uint32_t vertices;
    uint64_t edges;
    uint32_t* row_start;  /* in host memory */
    gpu_address row_start_at, target, source; /* of edges; no source unless asked for */
};

/* 2^scale vertices and about `edges` edges, after the R-MAT model; the lanes draw the targets. */
void graph_generate(struct app* app, struct graph* g, unsigned scale, uint64_t edges, bool sources);
/* Target of an edge that leaves a vertex, as the host knows it. */
static inline uint32_t graph_target(const struct graph* g, uint32_t source, uint64_t edge) { return rmat_target(source, edge, g->scale); }

#endif
