/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/cluster/spmv_links.h"

#include "drivers/gpu/links.h"
#include "lib/console.h"
#include "lib/machine.h"
#include "lib/region.h"
#include "lib/result.h"
#include "lib/timer.h"
#include "programs/apps/app.h"

bool app_spmv(struct app* app);

const char* const spmv_link_setting_names[] = {"plain", "netcrafter", "lanes", "netcrafter_lanes", NULL};

static bool run(struct gpu_node* node, struct gpu_queue_handle* queues, const struct spmv_links* o, unsigned setting) {
    struct app app = {.node = node, .queue = queues, .size = o->size, .line = "spmv", .random = 1};
    if (!gpu_set_links(node, setting & 1 ? o->features : 0, setting & 2 ? o->policy : GPU_LINK_FIXED)) {
        console_printf("spmv: the links between the GPUs cannot be set\n");
        return false;
    }
    region_note(spmv_link_setting_names[setting]);
    const bool ok = app_spmv(&app) && !app.failed;
    result_begin("spmv");
    result_u64("rows", o->size);
    result_u64("gpus", node->count);
    result_text("links", spmv_link_setting_names[setting]);
    result_u64("time_ns", app.measured * (1000000000 / machine.timebase));
    result_end();
    return ok;
}

bool spmv_links_run(struct gpu_node* node, struct gpu_queue_handle* queues, const struct spmv_links* o) {
    bool ok = true;
    for (unsigned setting = 0; setting < 4; ++setting)
        if (o->settings >> setting & 1) ok = run(node, queues, o, setting) && ok;
    console_printf("spmv       %s\n", ok ? "ok" : "FAILED");
    return ok;
}
