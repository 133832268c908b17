/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/gpu/grid.h"

#include "lib/words.h"

static uint64_t groups_along(const struct gpu_grid* grid, unsigned d) {
    const uint64_t items = grid->items[d] ? grid->items[d] : 1, group = grid->group[d] ? grid->group[d] : 1;
    return (items + group - 1) / group;
}

uint64_t gpu_group_count(const struct gpu_grid* grid) {
    return groups_along(grid, 0) * groups_along(grid, 1) * groups_along(grid, 2);
}

/* Pieces of `chunk` from `first` on, one every `period`. */
static bool chunks(struct gpu_grid* part, uint64_t first, uint64_t chunk, uint64_t period, uint64_t all) {
    part->first_group = (uint32_t)first;
    part->chunk = (uint16_t)chunk;
    part->period = (uint32_t)period;
    return chunk && first < all;
}

/* From `gpu` x `each` on `each` work-groups that follow each other, or what is left. */
static bool share(struct gpu_grid* part, uint64_t each, unsigned gpu, uint64_t all) {
    const uint64_t from = each * gpu;
    if (from >= all) return false;
    part->first_group = (uint32_t)from;
    part->groups = (uint32_t)(all - from < each ? all - from : each);
    return true;
}

/* `rows` blocks of `width` work-groups that follow each other. */
static bool blocks(struct gpu_grid* part, uint64_t rows, uint64_t width, unsigned gpu, unsigned gpus) {
    const uint64_t from = rows * gpu / gpus, to = rows * (gpu + 1) / gpus;
    part->first_group = (uint32_t)(from * width);
    part->groups = (uint32_t)((to - from) * width);
    return to != from;
}

bool gpu_grid_part(struct gpu_grid* part, const struct gpu_grid* grid, enum gpu_dispatch_policy policy, unsigned gpu,
                   unsigned gpus, unsigned compute_units) {
    *part = *grid;
    part->first_group = part->groups = part->chunk = part->period = 0;
    const uint64_t all = gpu_group_count(grid);
    if (gpus == 1) return all != 0;
    if (policy == GPU_DISPATCH_ROUND_ROBIN) return chunks(part, gpu, 1, gpus, all);
    if (policy == GPU_DISPATCH_FILL) {
        const uint64_t units = (uint64_t)gpus * compute_units;
        return share(part, (all + units - 1) / units * compute_units, gpu, all);
    }
    if (policy == GPU_DISPATCH_LASP) {
        const uint64_t width = groups_along(grid, 0);
        if (grid->binding == GPU_BIND_ROWS && width != all) return blocks(part, all / width, width, gpu, gpus);
        if (grid->binding == GPU_BIND_COLUMNS && width >= gpus && width != all && width / gpus < 65535) {
            const uint64_t from = width * gpu / gpus, to = width * (gpu + 1) / gpus;
            return chunks(part, from, to - from, width, all);
        }
        if (grid->binding == GPU_BIND_ALIGNED && grid->batch && grid->batch < 65535)
            return chunks(part, (uint64_t)gpu * grid->batch, grid->batch, (uint64_t)gpus * grid->batch, all);
    }
    return blocks(part, all, 1, gpu, gpus);
}

bool gpu_dispatch_named(const char* name, enum gpu_dispatch_policy* policy) {
    static const char* const names[] = {"contiguous", "round_robin", "lasp", "fill"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; ++i)
        if (word_is(name, names[i])) {
            *policy = (enum gpu_dispatch_policy)i;
            return true;
        }
    return false;
}
