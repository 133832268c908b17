/* SPDX-License-Identifier: Apache-2.0 */
/* What posting and polling need of the machine they run on: a lane of a GPU (FABRICVP_KERNEL is defined) or a hart of
 * the host. */
#ifndef FABRICVP_GPU_VERBS_ARCH_H
#define FABRICVP_GPU_VERBS_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#define RDMA_INLINE static inline __attribute__((always_inline))

#ifdef FABRICVP_KERNEL
#include "gpu/gpu.h"

/* For what one lane does with queues while the others of its work-group wait. As part of a kernel, its addresses would
 * be computed in front of the kernel's loop, by all lanes, which would store them to scratch memory. */
#define RDMA_APART GPU_APART

/* What stands in front of records and doorbells: 2: a fence of system scope each; 3: one in front of the doorbell,
 * which is enough unless the HCA reads the record for another reason meanwhile; 5: the same, and none in front of the
 * consumer's record, which is enough for a completion queue with room for all that is under way; 1: fences of the GPU;
 * 4: one of the GPU in front of the doorbell; 0: none, to measure what they cost. */
#ifndef RDMA_FENCES
#define RDMA_FENCES 2
#endif
/* All stores so far are where the HCA finds them before any that follow. */
#if RDMA_FENCES == 2 || RDMA_FENCES == 3 || RDMA_FENCES == 5
#define rdma_order() fence_release(GPU_SCOPE_SYSTEM)
#elif RDMA_FENCES == 1 || RDMA_FENCES == 4
#define rdma_order() fence_release(GPU_SCOPE_AGENT)
#else
#define rdma_order() __asm__ volatile("" ::: "memory")
#endif
#if RDMA_FENCES == 3 || RDMA_FENCES == 4 || RDMA_FENCES == 5
#define rdma_order_record() __asm__ volatile("" ::: "memory")
#endif
#if RDMA_FENCES == 5
#define rdma_order_consumer_record() __asm__ volatile("" ::: "memory")
#endif
/* Loads that follow see what the HCA has written before what was loaded last. */
#define rdma_acquire() fence_acquire(GPU_SCOPE_SYSTEM)
#define rdma_load64(from) load_scoped_u64(from)
#define rdma_pause() gpu_pause()
#define rdma_cycles() gpu_cycle()
#else
#define RDMA_APART RDMA_INLINE
#define rdma_order() __asm__ volatile("fence rw, ow" ::: "memory")
#define rdma_acquire() __asm__ volatile("fence r, rw" ::: "memory")
#define rdma_load64(from) (*(const volatile uint64_t*)(from))
#define rdma_pause() __asm__ volatile("pause" ::: "memory")
RDMA_INLINE uint64_t rdma_cycles(void) {
    uint64_t value;
    __asm__ volatile("csrr %0, mcycle" : "=r"(value));
    return value;
}
#endif

/* The same in front of a doorbell record, which nothing but a doorbell makes the HCA look at as a rule. */
#ifndef rdma_order_record
#define rdma_order_record() rdma_order()
#endif
/* The same in front of a consumer's record, which the HCA looks at when it knows of no room in the completion queue.
 * An entry whose giving back came behind its next completion would hide that. With no more under way than the queue
 * holds, the completion is that of a later message, whose doorbell has a fence behind the giving back. */
#ifndef rdma_order_consumer_record
#define rdma_order_consumer_record() rdma_order()
#endif

RDMA_INLINE void rdma_store64(uint64_t to, uint64_t value) { *(volatile uint64_t*)(uintptr_t)to = value; }
RDMA_INLINE void rdma_store32(uint64_t to, uint32_t value) { *(volatile uint32_t*)(uintptr_t)to = value; }

#endif
