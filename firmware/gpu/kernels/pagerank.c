/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "graph.h"

enum { GROUP = PAGERANK_GROUP };

/* Lanes take edges as they lie in memory, whatever vertex they belong to, so that one vertex with many edges holds up
 * nobody; each edge's share goes to the sum of its vertex. */
KERNEL(pagerank, struct pagerank_arguments)
{
    LDS uint32_t start[GROUP + 1];
    LDS uint64_t sum[GROUP];
    const uint32_t lane = local_id(0), vertices = args->vertices, vertex = (uint32_t)global_id(0);
    start[lane] = args->row_start[vertex < vertices ? vertex : vertices];
    if (lane == 0) start[GROUP] = args->row_start[vertex + GROUP < vertices ? vertex + GROUP : vertices];
    sum[lane] = 0;
    barrier();
    for (uint32_t edge = start[0] + lane; edge < start[GROUP]; edge += GROUP) {
        const uint32_t share = args->share[args->target[edge]];
        uint32_t row = 0; /* the last one that starts at or before the edge */
        for (uint32_t half = GROUP / 2; half; half /= 2)
            if (start[row + half] <= edge) row += half;
        atomic_increase_u64(&sum[row], share);
    }
    barrier();
    if (vertex < vertices) args->rank[vertex] = pagerank_new(sum[lane]);
}
