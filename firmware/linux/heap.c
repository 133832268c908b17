/* SPDX-License-Identifier: Apache-2.0 */
/* The heap is that of the C library. */
#define _GNU_SOURCE
#include "lib/heap.h"

#include <stdlib.h>

void* heap_allocate(size_t bytes) { return malloc(bytes); }

void* heap_allocate_aligned(size_t bytes, size_t alignment) {
    void* block = NULL;
    return posix_memalign(&block, alignment < sizeof block ? sizeof block : alignment, bytes) ? NULL : block;
}

void heap_free(void* block) { free(block); }

/* For APUs alone, which no machine with Linux has. */
void* heap_reserve_end(size_t bytes, size_t alignment) {
    (void)bytes, (void)alignment;
    return NULL;
}

size_t heap_free_bytes(void) { return 0; }
