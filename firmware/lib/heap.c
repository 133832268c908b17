/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/heap.h"

#include "lib/harts.h"
#include "lib/machine.h"

/* Blocks follow each other without gaps; each starts with this header. */
struct block {
    uint64_t size; /* bytes, header included; bit 0: in use */
    uint64_t check;
};

enum { ALIGNMENT = 16, IN_USE = 1 };
#define CHECK UINT64_C(0x6d656d6f72792121)

static struct block *first, *end;
static uintptr_t highest; /* end of what was ever allocated */
static struct spinlock lock;

static uint64_t size_of(const struct block* b) { return b->size & ~(uint64_t)IN_USE; }
static struct block* after(struct block* b) { return (struct block*)((uintptr_t)b + size_of(b)); }
static bool used(const struct block* b) { return b->size & IN_USE; }

static void make(struct block* b, uint64_t size, bool in_use) {
    b->size = size | (in_use ? IN_USE : 0);
    b->check = CHECK ^ (uintptr_t)b;
}

void heap_initialize(uintptr_t from, uintptr_t to) {
    from = (from + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
    to &= ~(uintptr_t)(ALIGNMENT - 1);
    first = (struct block*)from;
    end = (struct block*)(to > from + sizeof *first ? to : from);
    highest = from;
    if (first != end) make(first, to - from, false);
}

static void join_free(struct block* b) {
    while (after(b) != end && !used(after(b))) make(b, size_of(b) + size_of(after(b)), false);
}

void* heap_allocate_aligned(size_t bytes, size_t alignment) {
    if (alignment < ALIGNMENT) alignment = ALIGNMENT;
    if (bytes > ~(size_t)0 / 2) return NULL;
    const uint64_t need = sizeof(struct block) + ((bytes + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1));
    void* result = NULL;
    const unsigned long were = spin_lock(&lock);
    for (struct block* b = first; b != end && !result; b = after(b)) {
        if (used(b)) continue;
        join_free(b);
        uintptr_t data = ((uintptr_t)(b + 1) + alignment - 1) & ~(uintptr_t)(alignment - 1);
        const uint64_t lead = data - (uintptr_t)(b + 1); /* zero, or room for a block of its own */
        if (lead + need > size_of(b)) continue;
        if (lead) {
            struct block* aligned = (struct block*)data - 1;
            make(aligned, size_of(b) - lead, false);
            make(b, lead, false);
            b = aligned;
        }
        const uint64_t rest = size_of(b) - need;
        if (rest >= sizeof(struct block)) {
            make((struct block*)((uintptr_t)b + need), rest, false);
            make(b, need, true);
        } else {
            make(b, size_of(b), true);
        }
        result = b + 1;
        if ((uintptr_t)after(b) > highest) highest = (uintptr_t)after(b);
    }
    spin_unlock(&lock, were);
    return result;
}

void* heap_allocate(size_t bytes) { return heap_allocate_aligned(bytes, ALIGNMENT); }

void* heap_reserve_end(size_t bytes, size_t alignment) {
    void* result = NULL;
    const unsigned long were = spin_lock(&lock);
    struct block* last = first;
    for (struct block* b = first; b != end; b = after(b)) {
        if (!used(b)) join_free(b);
        last = b;
    }
    if (alignment < ALIGNMENT) alignment = ALIGNMENT;
    const uintptr_t at = bytes < (uintptr_t)end ? ((uintptr_t)end - bytes) & ~(uintptr_t)(alignment - 1) : 0;
    if (last != end && !used(last) && at >= (uintptr_t)(last + 1) && at >= highest) {
        make(last, at - (uintptr_t)last, false);
        end = (struct block*)at;
        result = (void*)at;
    }
    spin_unlock(&lock, were);
    return result;
}

void heap_free(void* pointer) {
    if (!pointer) return;
    struct block* b = (struct block*)pointer - 1;
    const unsigned long were = spin_lock(&lock);
    const bool live = ((uintptr_t)pointer & (ALIGNMENT - 1)) == 0 && b >= first && b < end &&
                      b->check == (CHECK ^ (uintptr_t)b) && used(b);
    if (live) {
        make(b, size_of(b), false);
        join_free(b);
    }
    spin_unlock(&lock, were);
    if (!live) panic("heap: %p is no live block", pointer);
}

size_t heap_free_bytes(void) {
    size_t total = 0;
    const unsigned long were = spin_lock(&lock);
    for (struct block* b = first; b != end; b = after(b)) {
        if (used(b)) continue;
        join_free(b);
        total += size_of(b) - sizeof *b;
    }
    spin_unlock(&lock, were);
    return total;
}
