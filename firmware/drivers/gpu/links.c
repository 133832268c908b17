/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/gpu/links.h"

#include "lib/mmio.h"
#include "lib/timer.h"

enum { EMPTY_WITHIN_US = 10000 };

const char* const gpu_link_feature_names[] = {"stitching",  "trimming",   "pooling", "selective_pooling",
                                              "sequencing", "data_first", NULL};
const char* const gpu_link_policy_names[] = {"fixed", "milic2017", "symmetric", "predictive", NULL};

/* \returns whether the link has it and, if it has, whether it takes it */
static bool set(uintptr_t at, uint32_t value, bool* taken) {
    if (!(mmio_read32(at) & GPU_LINK_PRESENT)) return false;
    mmio_write32(at, value);
    *taken = *taken && (mmio_read32(at) & ~GPU_LINK_PRESENT) == value;
    return true;
}

bool gpu_set_links(const struct gpu_node* node, unsigned features, enum gpu_link_policy policy) {
    bool any = false, taken = true;
    for (const struct gpu* g = node->gpu; g < node->gpu + node->count; ++g) {
        const unsigned links = mmio_read32(g->registers + GPU_LINKS);
        if (links > GPU_MAX_LINKS) return false; /* ones: the GPU does not answer */
        for (unsigned i = 0; i < links; ++i) {
            any = set(g->registers + GPU_LINK_NETCRAFTER + 4 * i, features, &taken) || any;
            any = set(g->registers + GPU_LINK_LANES + 4 * i, policy, &taken) || any;
        }
    }
    const uint64_t begin = timer_now();
    for (const struct gpu* g = node->gpu; g < node->gpu + node->count; ++g)
        while (mmio_read64(g->registers + GPU_LINK_PENDING))
            if (timer_microseconds(timer_now() - begin) > EMPTY_WITHIN_US) return false;
    return any && taken;
}
