/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_LIB_HEAP_H
#define FABRICVP_LIB_HEAP_H

#include "lib/libc.h"

/* First-fit allocator over one stretch of memory, safe among harts. Blocks are 16-byte aligned. */
void heap_initialize(uintptr_t from, uintptr_t to);
void* heap_allocate(size_t bytes); /* NULL if there is no room */
/* `alignment` is a power of two. The memory is not zeroed. */
void* heap_allocate_aligned(size_t bytes, size_t alignment);
/* Memory at the heap's end that was never allocated, for ever; NULL if there is not so much. */
void* heap_reserve_end(size_t bytes, size_t alignment);
void heap_free(void* block); /* NULL is fine; anything but a live block is a panic */
size_t heap_free_bytes(void);

#endif
