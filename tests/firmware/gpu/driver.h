/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs for GPUs share: one GPU, its kernels, and a check that it still works. */
#ifndef FABRICVP_TEST_DRIVER_H
#define FABRICVP_TEST_DRIVER_H

#include "bad.h"
#include "drivers/gpu/gpu.h"
#include "lib/console.h"

extern struct gpu_node node;

void driver_start(void);
struct gpu_kernel driver_kernel(const char* name);
/* Launches `groups` work-groups of 64. */
uint64_t driver_launch(struct gpu_queue_handle* queue, const char* kernel, unsigned groups, uint64_t at, uint64_t lane);
/* "ok" or "FAILED": a kernel runs in the queue and its result is right. */
const char* driver_works(struct gpu_queue_handle* queue);
/* Page-aligned, zeroed. */
void* driver_pages(unsigned count);

#endif
