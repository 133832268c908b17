/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_PROGRAMS_APPS_GRAPH_H
#define FABRICVP_PROGRAMS_APPS_GRAPH_H

#include "programs/apps/app.h"

/* An undirected graph in compressed rows, in host memory from app_host(): every edge stands in two rows. */
struct graph {
    uint32_t vertices;
    uint64_t entries;
    uint32_t *row_start, *neighbour; /* vertices + 1; entries */
};

/* 2^scale vertices and about `edges` edges after the R-MAT model, without loops; labels are shuffled, so that neither
 * hubs nor neighbours lie beside each other. */
void graph_generate(struct app* app, struct graph* g, unsigned scale, uint64_t edges);
enum { GRAPH_MAX_SCALE = 25 };

#endif
