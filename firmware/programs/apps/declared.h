/* SPDX-License-Identifier: Apache-2.0 */
/* What applications declare of their kernels and buffers for LASP, a line for each kernel at its first measured launch:
 *
 *     # declared kernel=transpose items=64x64x1 group=16x16x1 binding=rows arguments=0x…,0x… 0=rows:256:16384
 *
 * `arguments` are words of 64 bits; at offsets that hold an address inside a buffer stand its locality, pitch and size.
 * The analysis of the kernels' index expressions is compared with them (`fabricvp experiment locality`). */
#ifndef FABRICVP_PROGRAMS_APPS_DECLARED_H
#define FABRICVP_PROGRAMS_APPS_DECLARED_H

#include "drivers/gpu/gpu.h"
#include "drivers/gpu/placement.h"

void declared_reset(void); /* before an application */
/* Launches count between true and false. */
void declared_measure(bool on);
void declared_kernel(struct gpu_kernel kernel, const char* name);
void declared_buffer(gpu_address at, uint64_t bytes, struct gpu_layout layout);
void declared_launch(struct gpu_kernel kernel, const struct gpu_grid* grid, const void* arguments, uint32_t bytes);

#endif
