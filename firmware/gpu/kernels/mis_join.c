/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "graph.h"

KERNEL(mis_join, struct mis_arguments)
{
    const uint32_t v = (uint32_t)global_id(0);
    if (v >= args->vertices || args->state[v] != MIS_OPEN) return;
    if (!args->blocked[v]) args->state[v] = MIS_IN;
}
