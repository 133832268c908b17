/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory as devices see it. The driver gives devices the CPU's addresses. */
#ifndef FABRICVP_LIB_DMA_H
#define FABRICVP_LIB_DMA_H

#include "lib/libc.h"

/* Whether no program had the devices before this one, so that their memory has zeros. */
enum { DMA_DEVICES_ARE_FRESH = 1 };

/* Whether devices reach these bytes at the address that the CPU has for them: all, where nothing translates. Under an
 * operating system (firmware/linux/lib/dma.h) it is the heap alone. */
static inline bool dma_reaches(const void* at, uint64_t bytes) {
    (void)at;
    (void)bytes;
    return true;
}

#endif
