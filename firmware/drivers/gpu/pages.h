/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of a GPU's memory, by offset there. Those that were never taken lie between `free` and `top` of struct gpu:
 * small ones are taken from below, large ones from above. Those that came back are taken again before. */
#ifndef FABRICVP_DRIVERS_GPU_PAGES_H
#define FABRICVP_DRIVERS_GPU_PAGES_H

#include "drivers/gpu/gpu.h"

/* \returns false if there is none */
bool gpu_take_page(struct gpu* gpu, uint64_t* offset);
/* One that was never taken, so it has zeros. \returns false if there is none */
bool gpu_take_fresh_page(struct gpu* gpu, uint64_t* offset);
/* Large ones that lie behind each other. \returns false if there are none */
bool gpu_take_large_pages(struct gpu* gpu, uint64_t count, uint64_t* offset);
/* The reverse of gpu_return_pages(): whole large pages that came back, behind each other. \returns false if there are
 * none */
bool gpu_untake_large_pages(struct gpu* gpu, uint64_t* offset, uint64_t* bytes);
/* Panics without host memory for the note. */
void gpu_return_pages(struct gpu* gpu, uint64_t offset, uint64_t bytes);

#endif
