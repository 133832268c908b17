/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "graph.h"

KERNEL(pagerank_share, struct pagerank_share_arguments)
{
    const size_t vertex = global_id(0);
    if (vertex >= args->vertices) return;
    const uint32_t degree = args->degree[vertex];
    args->share[vertex] = degree ? args->rank[vertex] / degree : 0;
}
