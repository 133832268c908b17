/* SPDX-License-Identifier: Apache-2.0 */
/* The links of the switches that GPUs are attached to (abi/gpu_links.h). */
#ifndef FABRICVP_DRIVERS_GPU_LINKS_H
#define FABRICVP_DRIVERS_GPU_LINKS_H

#include "abi/gpu_links.h"
#include "drivers/gpu/gpu.h"

extern const char* const gpu_link_feature_names[]; /* of the bits of enum gpu_link_features; then NULL */
extern const char* const gpu_link_policy_names[];

/* Where links have NetCrafter's controllers, they get these parts (enum gpu_link_features); where their lanes reverse,
 * this policy. Waits until all links have run empty and do as they are told. \returns false if none has either, one
 * does not take it, or one stays busy */
bool gpu_set_links(const struct gpu_node* node, unsigned features, enum gpu_link_policy policy);

#endif
