/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/gpu/pages.h"

#include "drivers/gpu/shared.h"

#include "lib/heap.h"
#include "lib/machine.h"

/* Pages that came back, in the order of their offsets; ranges that touch are one. */
struct gpu_pages {
    uint64_t begin, end;
    struct gpu_pages* next;
};

static uint64_t align_down(uint64_t value) { return value & ~(uint64_t)(GPU_LARGE_PAGE - 1); }

static void drop(struct gpu_pages** at) {
    struct gpu_pages* r = *at;
    *at = r->next;
    heap_free(r);
}

static void insert(struct gpu_pages** at, uint64_t begin, uint64_t end) {
    struct gpu_pages* r = heap_allocate(sizeof *r);
    if (!r) panic("no host memory for a range of pages");
    *r = (struct gpu_pages){begin, end, *at};
    *at = r;
}

bool gpu_take_fresh_page(struct gpu* g, uint64_t* offset) {
    if (g->top < g->free + GPU_PAGE) return false;
    *offset = g->free;
    g->free += GPU_PAGE;
    return true;
}

bool gpu_take_page(struct gpu* g, uint64_t* offset) {
    if (!g->returned && !gpu_shared_take(g, 1, false)) return gpu_take_fresh_page(g, offset);
    struct gpu_pages* r = g->returned;
    *offset = r->begin;
    r->begin += GPU_PAGE;
    if (r->begin == r->end) drop(&g->returned);
    return true;
}

/* Where `bytes` of whole large pages begin at the end of a range; false if they do not fit. */
static bool fits(const struct gpu_pages* r, uint64_t bytes, uint64_t* begin) {
    const uint64_t end = align_down(r->end);
    if (end < r->begin || end - r->begin < bytes) return false;
    *begin = end - bytes;
    return true;
}

bool gpu_take_large_pages(struct gpu* g, uint64_t count, uint64_t* offset) {
    if (count > g->memory_bytes / GPU_LARGE_PAGE) return false;
    const uint64_t bytes = count * GPU_LARGE_PAGE;
    struct gpu_pages** best = NULL;
    for (struct gpu_pages** at = &g->returned; *at; at = &(*at)->next)
        if (fits(*at, bytes, offset)) best = at;
    if (!best) {
        if (g->top < g->free || g->top - g->free < bytes)
            return gpu_shared_take(g, count, true) && gpu_take_large_pages(g, count, offset);
        *offset = g->top -= bytes;
        return true;
    }
    fits(*best, bytes, offset);
    struct gpu_pages* r = *best;
    const uint64_t end = *offset + bytes;
    if (end < r->end) insert(&r->next, end, r->end);
    r->end = *offset;
    if (r->begin == r->end) drop(best);
    return true;
}

void gpu_return_pages(struct gpu* g, uint64_t offset, uint64_t bytes) {
    struct gpu_pages** at = &g->returned;
    while (*at && (*at)->end < offset) at = &(*at)->next;
    struct gpu_pages* r = *at;
    if (!r || offset + bytes < r->begin) {
        insert(at, offset, offset + bytes);
    } else { /* it touches the one before it, the one behind, or both */
        if (offset < r->begin) r->begin = offset;
        if (offset + bytes > r->end) r->end = offset + bytes;
        while (r->next && r->next->begin == r->end) {
            r->end = r->next->end;
            drop(&r->next);
        }
    }
}

/* Large pages of a range, and small ones of what remains of it. */
static uint64_t large_pages(uint64_t begin, uint64_t end) {
    const uint64_t first = align_down(begin + GPU_LARGE_PAGE - 1), last = align_down(end);
    return last > first ? (last - first) / GPU_LARGE_PAGE : 0;
}

bool gpu_untake_large_pages(struct gpu* g, uint64_t* offset, uint64_t* bytes) {
    uint64_t largest = 0;
    for (const struct gpu_pages* r = g->returned; r; r = r->next)
        if (large_pages(r->begin, r->end) > largest) largest = large_pages(r->begin, r->end);
    *bytes = largest * GPU_LARGE_PAGE;
    return largest && gpu_take_large_pages(g, largest, offset);
}

uint64_t gpu_free_bytes(const struct gpu* g) {
    uint64_t bytes = g->top > g->free ? g->top - g->free : 0;
    for (const struct gpu_pages* r = g->returned; r; r = r->next) bytes += r->end - r->begin;
    return bytes + gpu_shared_free_bytes(g);
}

/* Takes what is missing, so that no other program does before it is used. */
static bool reserve(struct gpu* g, uint64_t bytes, uint64_t large) {
    uint64_t all = 0, there = 0, missing = 0;
    for (const struct gpu_pages* r = g->returned; r; r = r->next) {
        all += r->end - r->begin;
        there += large_pages(r->begin, r->end);
    }
    if (large > there) missing = large - there;
    if (bytes > all + missing * GPU_LARGE_PAGE) missing = (bytes - all + GPU_LARGE_PAGE - 1) / GPU_LARGE_PAGE;
    return !missing || gpu_shared_take(g, missing, false);
}

bool gpu_has_space(struct gpu* g, uint64_t bytes, uint32_t page) {
    /* Tables: one of the last level for each 2 MiB or 1 GiB, and those above. */
    const uint64_t tables = (bytes / GPU_LARGE_PAGE / (page == GPU_LARGE_PAGE ? 512 : 1) + 8) * GPU_PAGE;
    const uint64_t all = GPU_IS_SHARED ? 0 : gpu_free_bytes(g);
    const uint64_t large = page == GPU_LARGE_PAGE ? bytes / GPU_LARGE_PAGE : 0;
    if (GPU_IS_SHARED) return reserve(g, bytes + tables + GPU_PAGE, large);
    if (bytes > all || all - bytes < tables + GPU_PAGE) return false;
    uint64_t there = g->top > g->free + tables ? (g->top - g->free - tables) / GPU_LARGE_PAGE : 0;
    for (const struct gpu_pages* r = g->returned; r && there < large; r = r->next)
        there += large_pages(r->begin, r->end);
    return there >= large;
}
