/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "graph.h"

KERNEL(rmat, struct rmat_arguments)
{
    const size_t edge = global_id(0);
    if (edge >= args->edges) return;
    /* The last row that starts at or before the edge, between the hints. */
    uint32_t low = args->hint[edge / RMAT_HINT], high = args->hint[edge / RMAT_HINT + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (args->row_start[middle] <= edge)
            low = middle;
        else
            high = middle - 1;
    }
    args->target[edge] = rmat_target(low, edge, args->scale);
    if (args->source) args->source[edge] = low;
}
