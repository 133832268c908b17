/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory as devices see it, in a process of Linux; stands before firmware/lib/dma.h. It is the broker's: huge
 * pages, each mapped at its own physical address. User space of RISC-V begins at 0, below the memory's end, so the
 * driver's addresses are those of devices, as on bare metal. */
#ifndef FABRICVP_LIB_DMA_H
#define FABRICVP_LIB_DMA_H

#include "lib/libc.h"

/* Earlier processes may have left something in the memory of devices. */
enum { DMA_DEVICES_ARE_FRESH = 0 };

/* Processes poll copies; interrupts would only wake the broker. */
enum { DMA_COPIES_INTERRUPT = 0 };

/* Whether devices reach these bytes at the address that the process has for them. */
bool dma_reaches(const void* at, uint64_t bytes);
/* Memory that they reach, of whole pages of 4 KiB; NULL if there is no room. */
void* dma_allocate(size_t bytes, size_t alignment);
void dma_free(void* block); /* NULL is fine */

/* Other memory of the process moves to huge pages, a whole page with all that the process has there. */
enum { DMA_UNIT = 2 << 20 };
bool dma_can_pin(uintptr_t at);
uintptr_t dma_pin(uintptr_t at);
void dma_unpin(uintptr_t at);
uintptr_t dma_pinned(uintptr_t at, uint64_t* bytes);

#endif
