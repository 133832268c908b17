/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "graph.h"

KERNEL(degree, struct degree_arguments)
{
    const size_t edge = global_id(0);
    if (edge < args->edges) atomic_increase_u32(&args->degree[args->target[edge]], 1);
}
