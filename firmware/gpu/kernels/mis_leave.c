/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "graph.h"

KERNEL(mis_leave, struct mis_arguments) {
    const uint32_t v = (uint32_t)global_id(0);
    if (v < args->vertices && args->next_status[v] == MIS_CLOSED) args->status[v] = MIS_CLOSED;
}
