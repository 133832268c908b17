/* SPDX-License-Identifier: Apache-2.0 */
/* What the broker has given this process of its GPUs; stands before firmware/drivers/gpu/shared.h, which says what each
 * of these is. */
#ifndef FABRICVP_DRIVERS_GPU_SHARED_H
#define FABRICVP_DRIVERS_GPU_SHARED_H

#include "drivers/gpu/gpu.h"

enum { GPU_IS_SHARED = 1 };

unsigned gpu_shared_space(void);
uint64_t gpu_shared_root(void);
bool gpu_shared_take(struct gpu* gpu, uint64_t count, bool contiguous);
uint64_t gpu_shared_free_bytes(const struct gpu* gpu);
void gpu_shared_give(struct gpu* gpu);
void gpu_shared_map(const struct gpu_node* node, gpu_address at, uint64_t bytes);
void gpu_shared_unmap(const struct gpu* gpu, gpu_address at, uint64_t bytes);
bool gpu_shared_take_queue(struct gpu* gpu);
void gpu_shared_give_queue(struct gpu* gpu, unsigned queue);
bool gpu_shared_owns_queue(const struct gpu* gpu, unsigned queue);
unsigned gpu_shared_fault(const struct gpu* gpu, unsigned fault);
bool gpu_shared_was_reset(const struct gpu* gpu);
bool gpu_shared_lock_copies(const struct gpu* gpu, bool to_device);
void gpu_shared_unlock_copies(const struct gpu* gpu, bool to_device);
bool gpu_shared_has_interrupts(void);
uint32_t gpu_shared_interrupts(void);
void gpu_shared_sleep(uint32_t interrupts, uint64_t microseconds);
void gpu_shared_yield(void);

#endif
