/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "graph.h"

/* Of two open neighbours, the one with the lower priority must wait. Edges are stored at one end only, so both ends are
 * told; `blocked` is only ever set in this phase. */
KERNEL(mis_block, struct mis_arguments)
{
    const uint32_t v = (uint32_t)global_id(0);
    if (v >= args->vertices || args->state[v] != MIS_OPEN) return;
    const uint32_t end = args->row_start[v + 1];
    const uint64_t own = mis_priority(v);
    int waits = 0;
    for (uint32_t k = args->row_start[v]; k < end; ++k) {
        const uint32_t other = args->target[k];
        if (other == v || args->state[other] != MIS_OPEN) continue;
        if (mis_priority(other) > own)
            waits = 1;
        else
            args->blocked[other] = 1;
    }
    if (waits) args->blocked[v] = 1;
}
