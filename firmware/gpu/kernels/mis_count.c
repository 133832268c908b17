/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "graph.h"

/* Makes ready for the next round, and counts who takes part in it. */
KERNEL(mis_count, struct mis_arguments)
{
    const uint32_t v = (uint32_t)global_id(0);
    if (v >= args->vertices || args->state[v] != MIS_OPEN) return;
    args->blocked[v] = 0;
    atomic_increase_u32(args->open, 1);
}
