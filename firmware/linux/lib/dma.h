/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory as devices see it, in a process of Linux; stands before firmware/lib/dma.h. */
#ifndef FABRICVP_LIB_DMA_H
#define FABRICVP_LIB_DMA_H

#include "lib/libc.h"

/* Earlier processes may have left something in the memory of devices. */
enum { DMA_DEVICES_ARE_FRESH = 0 };

/* Whether devices reach these bytes at the address that the process has for them: those of the heap, which lies on huge
 * pages that are mapped where their physical addresses say. */
bool dma_reaches(const void* at, uint64_t bytes);
/* Why devices reach no memory, NULL if they reach the heap. */
const char* dma_problem(void);

#endif
