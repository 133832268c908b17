/* SPDX-License-Identifier: Apache-2.0 */
/* Applications over all GPUs of a node, in each mode of the links between them: NetCrafter off and on, reversible lanes
 * off and on. */
#ifndef FABRICVP_PROGRAMS_CLUSTER_LINK_MODES_H
#define FABRICVP_PROGRAMS_CLUSTER_LINK_MODES_H

#include "abi/gpu_links.h"
#include "drivers/gpu/gpu.h"
#include "programs/apps/app.h"

struct link_modes {
    unsigned features;           /* of NetCrafter, when it is on */
    enum gpu_link_policy policy; /* of lanes, when they are on */
    unsigned modes;              /* bit n: mode n is run; bit 0 of n: NetCrafter is on, bit 1: lanes reverse */
};
struct link_workload {
    const char *name, *unit; /* of the application, and of its size */
    app_function run;
    uint64_t size;
};
extern const char* const link_mode_names[]; /* by mode; then NULL */
/* \param queues one a GPU \returns whether all results were right */
bool link_modes_run(struct gpu_node* node, struct gpu_queue_handle* queues, const struct link_modes* options,
                    const struct link_workload* workload);

#endif
