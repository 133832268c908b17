/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "graph.h"

/* Of two open neighbours, the one with the lower priority must wait. `blocked` is only ever set in this phase. */
KERNEL(mis_block, struct mis_arguments)
{
    const size_t edge = global_id(0);
    if (edge >= args->edges) return;
    const uint32_t a = args->source[edge];
    if (args->state[a] != MIS_OPEN) return;
    const uint32_t b = args->target[edge];
    if (a == b || args->state[b] != MIS_OPEN) return;
    args->blocked[mis_priority(a) < mis_priority(b) ? a : b] = 1;
}
