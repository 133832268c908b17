/* SPDX-License-Identifier: Apache-2.0 */
/* The links of the switches that GPUs are attached to (abi/gpu_links.h). */
#ifndef FABRICVP_HOST_GPU_LINKS_H
#define FABRICVP_HOST_GPU_LINKS_H

#include "abi/gpu_links.h"
#include "host/gpu/gpu.h"

/* Where links have NetCrafter's controllers, they get these parts (enum gpu_link_features); where their lanes reverse,
 * this policy. Waits until all links have run empty and do as they are told. \returns false if none has either, one
 * does not take it, or one stays busy */
bool gpu_set_links(const struct gpu_node* node, unsigned features, enum gpu_link_policy policy);

#endif
