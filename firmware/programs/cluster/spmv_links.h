/* SPDX-License-Identifier: Apache-2.0 */
/* A sparse matrix times a vector over all GPUs of a node, with the links between them as they are told: NetCrafter off
 * and on, lanes that stay and that turn. */
#ifndef FABRICVP_PROGRAMS_CLUSTER_SPMV_LINKS_H
#define FABRICVP_PROGRAMS_CLUSTER_SPMV_LINKS_H

#include "abi/gpu_links.h"
#include "drivers/gpu/gpu.h"

struct spmv_links {
    uint64_t size;               /* rows of the matrix */
    unsigned features;           /* of NetCrafter, when it is on */
    enum gpu_link_policy policy; /* of lanes, when they turn */
    unsigned settings;           /* bit n: setting n is run; bit 0 of n: NetCrafter is on, bit 1: lanes reverse */
};
extern const char* const spmv_link_setting_names[]; /* by setting; then NULL */
/* \param queues one a GPU \returns whether every product was right */
bool spmv_links_run(struct gpu_node* node, struct gpu_queue_handle* queues, const struct spmv_links* options);

#endif
