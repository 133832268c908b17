/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory as devices see it. The driver gives devices the CPU's addresses. */
#ifndef FABRICVP_LIB_DMA_H
#define FABRICVP_LIB_DMA_H

#include "lib/heap.h"

/* Whether no program had the devices before this one, so that their memory has zeros. */
enum { DMA_DEVICES_ARE_FRESH = 1 };

/* Whether devices reach these bytes at the address that the CPU has for them: all, where nothing translates. Under an
 * operating system (firmware/linux/lib/dma.h) it is the heap alone. */
static inline bool dma_reaches(const void* at, uint64_t bytes) {
    (void)at;
    (void)bytes;
    return true;
}

/* Memory that devices reach, NULL if there is no room. `alignment` is a power of two, at most a page. */
static inline void* dma_allocate(size_t bytes, size_t alignment) { return heap_allocate_aligned(bytes, alignment); }
static inline void dma_free(void* block) { heap_free(block); }

#endif
