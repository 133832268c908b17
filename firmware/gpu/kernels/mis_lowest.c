/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "graph.h"

KERNEL(mis_lowest, struct mis_arguments) {
    const uint32_t v = (uint32_t)global_id(0);
    if (v >= args->vertices || args->status[v] != MIS_OPEN) return;
    *args->open = 1;
    int32_t lowest = MIS_NO_VALUE;
    for (uint32_t e = args->row_start[v], end = args->row_start[v + 1]; e < end; ++e) {
        const uint32_t other = args->neighbour[e];
        if (args->status[other] == MIS_OPEN && args->value[other] < lowest) lowest = args->value[other];
    }
    args->lowest[v] = lowest;
}
