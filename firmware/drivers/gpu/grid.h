/* SPDX-License-Identifier: Apache-2.0 */
/* Which work-groups of a grid run on which GPU. */
#ifndef FABRICVP_DRIVERS_GPU_GRID_H
#define FABRICVP_DRIVERS_GPU_GRID_H

#include "drivers/gpu/gpu.h"

enum gpu_dispatch_policy {
    GPU_DISPATCH_CONTIGUOUS,  /* as many work-groups that follow each other on each GPU */
    GPU_DISPATCH_ROUND_ROBIN, /* one after the other */
    GPU_DISPATCH_LASP,        /* as the grid's `binding` asks */
    GPU_DISPATCH_FILL         /* GPU after GPU, as many as it has compute units or the least multiple that suffices */
};
/* \returns false if there is no such policy: contiguous, round_robin, lasp, fill */
bool gpu_dispatch_named(const char* name, enum gpu_dispatch_policy* policy);

uint64_t gpu_group_count(const struct gpu_grid* grid);
/* The part of `grid` for one of `gpus`, each of so many compute units. \returns false if nothing is left for it */
bool gpu_grid_part(struct gpu_grid* part, const struct gpu_grid* grid, enum gpu_dispatch_policy policy, unsigned gpu,
                   unsigned gpus, unsigned compute_units);

#endif
