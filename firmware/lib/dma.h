/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory as devices see it. The driver gives devices the CPU's addresses. */
#ifndef FABRICVP_LIB_DMA_H
#define FABRICVP_LIB_DMA_H

#include "lib/heap.h"

/* Whether no program had the devices before this one, so that their memory has zeros. */
enum { DMA_DEVICES_ARE_FRESH = 1 };

/* Whether copy engines interrupt at the end of a copy. */
enum { DMA_COPIES_INTERRUPT = 1 };

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

/* Any memory of the program, given to devices in units at multiples of DMA_UNIT: here they reach all as it is. */
enum { DMA_UNIT = 4096 };
/* Whether the unit at `at` has only what dma_pin() can give to devices. */
static inline bool dma_can_pin(uintptr_t at) { return at != 0; }
/* The program keeps address and contents. \returns where devices reach the unit, and the program, too; 0: no room */
static inline uintptr_t dma_pin(uintptr_t at) { return at; }
static inline void dma_unpin(uintptr_t at) { (void)at; }
/* Where devices reach what the program has at `at` in such a unit, 0 if it is in none. \param bytes made less, if not
 * all of them are there */
static inline uintptr_t dma_pinned(uintptr_t at, uint64_t* bytes) {
    (void)at, (void)bytes;
    return 0;
}

#endif
