/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/cluster/link_modes.h"

#include "drivers/gpu/links.h"
#include "lib/console.h"
#include "lib/machine.h"
#include "lib/region.h"
#include "lib/result.h"
#include "lib/timer.h"

const char* const link_mode_names[] = {"plain", "netcrafter", "lanes", "netcrafter_lanes", NULL};

static bool run(struct gpu_node* node, struct gpu_queue_handle* queues, const struct link_modes* o,
                const struct link_workload* w, unsigned mode) {
    struct app app = {.node = node, .queue = queues, .size = w->size, .line = w->name, .random = 1};
    if (!gpu_set_links(node, mode & 1 ? o->features : 0, mode & 2 ? o->policy : GPU_LINK_FIXED)) {
        console_printf("%s: the links between the GPUs cannot be set\n", w->name);
        return false;
    }
    region_note(w->name);
    region_note(link_mode_names[mode]);
    const bool ok = w->run(&app) && !app.failed;
    result_begin(w->name);
    result_u64(w->unit, w->size);
    result_u64("gpus", node->count);
    result_text("links", link_mode_names[mode]);
    result_u64("time_ns", app.measured * (1000000000 / machine.timebase));
    result_end();
    return ok;
}

bool link_modes_run(struct gpu_node* node, struct gpu_queue_handle* queues, const struct link_modes* o,
                    const struct link_workload* w) {
    bool ok = true;
    for (unsigned mode = 0; mode < 4; ++mode)
        if (o->modes >> mode & 1) ok = run(node, queues, o, w, mode) && ok;
    console_printf("%-10s %s\n", w->name, ok ? "ok" : "FAILED");
    return ok;
}
