/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "graph.h"

/* Another lane may have closed a neighbour a moment ago; what is noted of it then changes nothing. */
KERNEL(mis_join, struct mis_arguments) {
    const uint32_t v = (uint32_t)global_id(0);
    if (v >= args->vertices || args->value[v] >= args->lowest[v] || args->status[v] != MIS_OPEN) return;
    args->member[v] = MIS_MEMBER;
    args->status[v] = MIS_CLOSED;
    for (uint32_t e = args->row_start[v], end = args->row_start[v + 1]; e < end; ++e) {
        const uint32_t other = args->neighbour[e];
        if (args->status[other] == MIS_OPEN) args->next_status[other] = MIS_CLOSED;
    }
}
