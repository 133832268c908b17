/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "graph.h"

/* Neighbours of the set's members leave. A lane may see a state that another lane has just changed from open to out;
 * nothing follows from that. */
KERNEL(mis_leave, struct mis_arguments)
{
    const uint32_t v = (uint32_t)global_id(0);
    if (v >= args->vertices) return;
    const uint32_t state = args->state[v], end = args->row_start[v + 1];
    int out = 0;
    if (state != MIS_OUT)
        for (uint32_t k = args->row_start[v]; k < end; ++k) {
            const uint32_t other = args->target[k];
            if (other == v) continue;
            if (state == MIS_IN)
                args->state[other] = MIS_OUT;
            else if (args->state[other] == MIS_IN)
                out = 1;
        }
    if (out) args->state[v] = MIS_OUT;
}
