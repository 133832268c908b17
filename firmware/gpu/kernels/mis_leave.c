/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "graph.h"

/* Neighbours of the set's members leave. A lane may see a state that another lane has just changed from open to out;
 * nothing follows from that. */
KERNEL(mis_leave, struct mis_arguments)
{
    const size_t edge = global_id(0);
    if (edge >= args->edges) return;
    const uint32_t a = args->source[edge], state = args->state[a];
    if (state == MIS_OUT) return;
    const uint32_t b = args->target[edge];
    if (a == b) return;
    if (state == MIS_IN)
        args->state[b] = MIS_OUT;
    else if (args->state[b] == MIS_IN)
        args->state[a] = MIS_OUT;
}
