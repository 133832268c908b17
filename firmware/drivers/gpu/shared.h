/* SPDX-License-Identifier: Apache-2.0 */
/* Whether programs share GPUs: here, one program has all of them. Under an operating system
 * (firmware/linux/client/drivers/gpu/shared.h) a broker owns them, and gives each process an address space, queues and
 * memory. Nothing of it is on the way of a launch. */
#ifndef FABRICVP_DRIVERS_GPU_SHARED_H
#define FABRICVP_DRIVERS_GPU_SHARED_H

#include "drivers/gpu/gpu.h"

enum { GPU_IS_SHARED = 0 };

/* This program's address space, below GPU_ADDRESS_SPACES. */
static inline unsigned gpu_shared_space(void) { return 0; }
/* Offset of the root of its page tables in a GPU's memory; 0: the driver takes any page. */
static inline uint64_t gpu_shared_root(void) { return 0; }
/* Gets memory for gpu_return_pages(): `count` pages of GPU_LARGE_PAGE, or none and false. \param contiguous behind each
 * other */
static inline bool gpu_shared_take(struct gpu* gpu, uint64_t count, bool contiguous) {
    (void)gpu, (void)count, (void)contiguous;
    return false;
}
/* What could be taken. */
static inline uint64_t gpu_shared_free_bytes(const struct gpu* gpu) {
    (void)gpu;
    return 0;
}
/* Gives whole large pages that came back to others. No kernel of this program may run. */
static inline void gpu_shared_give(struct gpu* gpu) { (void)gpu; }
/* Called for whole pages that programs have got, and before they are given back: the operating system may let the host
 * and other devices use their addresses. */
static inline void gpu_shared_map(const struct gpu_node* node, gpu_address at, uint64_t bytes) {
    (void)node, (void)at, (void)bytes;
}
static inline void gpu_shared_unmap(const struct gpu* gpu, gpu_address at, uint64_t bytes) {
    (void)gpu, (void)at, (void)bytes;
}
/* Makes sure that gpu_create_queue() finds one. \returns false if there is none */
static inline bool gpu_shared_take_queue(struct gpu* gpu) { return gpu->queues != ~UINT64_C(0); }
/* A queue that was destroyed. */
static inline void gpu_shared_give_queue(struct gpu* gpu, unsigned queue) { gpu->queues &= ~(1ull << queue); }
static inline bool gpu_shared_owns_queue(const struct gpu* gpu, unsigned queue) {
    (void)gpu, (void)queue;
    return true;
}
/* A fault of a queue, or what its owner knows better: the owner has ended a kernel that ran too long. */
static inline unsigned gpu_shared_fault(const struct gpu* gpu, unsigned fault) {
    (void)gpu;
    return fault;
}
/* Whether the owner has reset the GPU since this program opened it: what ran is lost, and its queues do nothing. */
static inline bool gpu_shared_was_reset(const struct gpu* gpu) {
    (void)gpu;
    return false;
}
/* From the first descriptor that is posted to the last that is awaited, one program has the copy engines of all GPUs.
 * \returns whether another had this GPU's meanwhile */
static inline bool gpu_shared_lock_copies(const struct gpu* gpu, bool to_device) {
    (void)gpu, (void)to_device;
    return false;
}
static inline void gpu_shared_unlock_copies(const struct gpu* gpu, bool to_device) { (void)gpu, (void)to_device; }
/* Whether the owner takes interrupts of signals that ask for them, though this program's delivery is PCI_POLLED. */
static inline bool gpu_shared_has_interrupts(void) { return false; }
/* How many it has taken, of any GPU. What a GPU wrote before is seen behind this. */
static inline uint32_t gpu_shared_interrupts(void) { return 0; }
/* Sleeps until there are more, but no longer than this. */
static inline void gpu_shared_sleep(uint32_t interrupts, uint64_t microseconds) {
    (void)interrupts, (void)microseconds;
}
/* Lets other programs run. */
static inline void gpu_shared_yield(void) {}

#endif
