/* SPDX-License-Identifier: Apache-2.0 */
/* What picolibc's <stdlib.h> needs a machine for. */
#include <stdlib.h>

#include "lib/heap.h"
#include "lib/machine.h"

/* Before each block, so that realloc() knows its size; as large as the heap's alignment. */
struct size_note {
    size_t bytes, unused;
};

void* malloc(size_t bytes) {
    struct size_note* n = bytes < SIZE_MAX / 2 ? heap_allocate(sizeof *n + bytes) : NULL;
    if (!n) return NULL;
    n->bytes = bytes;
    return n + 1;
}

void free(void* block) { heap_free(block ? (struct size_note*)block - 1 : NULL); }

void* calloc(size_t count, size_t bytes) {
    if (bytes && count > SIZE_MAX / 2 / bytes) return NULL;
    void* block = malloc(count * bytes);
    if (block) memset(block, 0, count * bytes);
    return block;
}

void* realloc(void* block, size_t bytes) {
    void* other = malloc(bytes);
    if (!block || !other) return other;
    const size_t old = ((struct size_note*)block)[-1].bytes;
    memcpy(other, block, old < bytes ? old : bytes);
    free(block);
    return other;
}

/* What runs at exit(), the last one first. */
struct at_exit {
    void (*function)(void*);
    void* argument;
    struct at_exit* next;
};
static struct at_exit* at_exit;

/* As compilers of C++ register destructors. \returns 0, or not for want of memory */
int __cxa_atexit(void (*function)(void*), void* argument, void* library) {
    (void)library;
    struct at_exit* a = heap_allocate(sizeof *a);
    if (!a) return 1;
    *a = (struct at_exit){function, argument, at_exit};
    at_exit = a;
    return 0;
}

int atexit(void (*function)(void)) { return __cxa_atexit((void (*)(void*))function, NULL, NULL); }

void exit(int status) {
    while (at_exit) {
        const struct at_exit a = *at_exit;
        at_exit = at_exit->next;
        a.function(a.argument);
    }
    power_off((unsigned)status & 0xff);
}

void abort(void) { panic("abort() was called"); }

/* picolibc's has its state in a variable of the thread. */
static uint64_t random_state = 1;

void srand(unsigned seed) { random_state = seed; }

int rand(void) {
    random_state = random_state * UINT64_C(6364136223846793005) + 1;
    return (int)(random_state >> 33 & RAND_MAX);
}
