/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "graph.h"

enum { GROUP = 256, WAVEFRONT = 64 };

KERNEL(pagerank, struct pagerank_arguments)
{
    LDS uint64_t part[GROUP];
    const uint32_t vertex = (uint32_t)(group_id(0) * (GROUP / WAVEFRONT) + local_id(0) / WAVEFRONT), lane = local_id(0) % WAVEFRONT;
    uint64_t sum = 0;
    if (vertex < args->vertices) {
        const uint32_t end = args->row_start[vertex + 1];
        for (uint32_t k = args->row_start[vertex] + lane; k < end; k += WAVEFRONT) sum += args->share[args->target[k]];
    }
    part[local_id(0)] = sum;
    for (unsigned half = WAVEFRONT / 2; half; half /= 2) {
        barrier();
        if (lane < half) part[local_id(0)] += part[local_id(0) + half];
    }
    if (lane == 0 && vertex < args->vertices) args->rank[vertex] = pagerank_new(part[local_id(0)]);
}
