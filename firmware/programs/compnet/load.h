/* SPDX-License-Identifier: Apache-2.0 */
/* Work-groups that stream through memory beside those that use the network. */
#ifndef FABRICVP_PROGRAMS_COMPNET_LOAD_H
#define FABRICVP_PROGRAMS_COMPNET_LOAD_H

#include "drivers/gpu/gpu.h"
#include "gpu/kernels/network.h"

enum { LOAD_MAX_GROUPS = 64 };
struct load {
    struct gpu_queue_handle queue;
    unsigned groups;
    gpu_address found, stop;
    uint64_t packet;
};

/* A kernel of `groups` work-groups; 0: none. */
void load_begin(struct load* load, struct gpu_node* node, unsigned groups);
/* It ends. \returns whether all that it has read was right */
bool load_end(struct load* load);

#endif
