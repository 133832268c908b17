/* SPDX-License-Identifier: Apache-2.0 */
/* What applications declare of their kernels and buffers for LASP, and what takes its place.
 *
 * `declared=1` on the kernel command line prints a line for each kernel at its first measured launch:
 *
 *     # declared kernel=transpose items=64x64x1 group=16x16x1 binding=rows arguments=0x…,0x… 0=rows:256:16384:1
 *
 * `arguments` are words of 64 bits; at offsets that hold an address inside a buffer stand its locality, pitch, size and
 * number, in the order of allocation.
 *
 * `places=NUMBER:ROW:PITCH,…` and `schedules=KERNEL:BINDING:BATCH,…` are what an analysis of the kernels' index
 * expressions found (`fabricvp experiment locality`): rows of LADM's table by number of a buffer, and enum gpu_binding.
 * Buffers and kernels that are not there have contiguous chunks. */
#ifndef FABRICVP_PROGRAMS_APPS_DECLARED_H
#define FABRICVP_PROGRAMS_APPS_DECLARED_H

#include "drivers/gpu/gpu.h"
#include "drivers/gpu/placement.h"

/* Before an application: what stands behind its name on the command line. \returns whether any of it is asked for, and
 * the other functions are to be called */
bool declared_begin(const char* line, bool print);
/* Launches count between true and false. */
void declared_measure(bool on);
void declared_kernel(struct gpu_kernel kernel, const char* name);
/* The layout of the next buffer. */
struct gpu_layout declared_layout(struct gpu_layout layout);
void declared_buffer(gpu_address at, uint64_t bytes, struct gpu_layout layout);
/* `grid`, or one that lives until the next call. */
const struct gpu_grid* declared_launch(struct gpu_kernel kernel, const struct gpu_grid* grid, const void* arguments,
                                       uint32_t bytes);

#endif
