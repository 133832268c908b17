/* SPDX-License-Identifier: Apache-2.0 */
/* Ordinary memory of the process that devices are to reach: it moves to huge pages of the broker's, which the kernel
 * never moves, and which stay the broker's when the process dies. The process finds it at the same addresses. A huge
 * page replaces all that the process has in these 2 MiB, since no smaller part of one can be mapped. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/dma.h"
#include "lib/machine.h"
#include "linux/client/client.h"

enum { MAX_AREAS = DMA_UNIT / 4096, MAX_LINE = 512 };

/* What the kernel had there: comes back in dma_unpin(). */
struct area {
    uintptr_t begin, end;
    int protection;
};
struct unit {
    uintptr_t at, page; /* of the process; of devices, and of the process as well */
    unsigned count;
    struct area area[MAX_AREAS];
    struct unit* next;
};
static struct unit* units;

/* Memory that only this process has and does not run code from, other than its stack. */
static bool is_ordinary(const char* flags, const char* name) {
    return flags[2] == '-' && flags[3] == 'p' && strncmp(name, "[stack", 6) != 0 && strncmp(name, "[v", 2) != 0;
}

static int protection_of(const char* flags) {
    return (flags[0] == 'r' ? PROT_READ : 0) | (flags[1] == 'w' ? PROT_WRITE : 0);
}

/* \returns false for what cannot move */
static bool read_areas(struct unit* u) {
    char line[MAX_LINE];
    FILE* maps = fopen("/proc/self/maps", "r");
    bool good = maps != NULL;
    u->count = 0;
    while (good && fgets(line, sizeof line, maps)) {
        uintptr_t begin, end;
        char flags[5];
        int name = 0;
        if (sscanf(line, "%lx-%lx %4s %*x %*s %*u %n", &begin, &end, flags, &name) != 3) continue;
        if (end <= u->at || begin >= u->at + DMA_UNIT) continue;
        good = is_ordinary(flags, line + name) && u->count < MAX_AREAS;
        if (begin < u->at) begin = u->at;
        if (end > u->at + DMA_UNIT) end = u->at + DMA_UNIT;
        if (good) u->area[u->count++] = (struct area){begin, end, protection_of(flags)};
    }
    if (maps) fclose(maps);
    return good && u->count;
}

static struct unit* find(uintptr_t at) {
    struct unit* u = units;
    while (u && at - u->at >= DMA_UNIT) u = u->next;
    return u;
}

/* The stack in use cannot move, whatever it is called. */
bool dma_can_pin(uintptr_t at) {
    static struct unit u;
    u.at = at;
    return (uintptr_t)__builtin_frame_address(0) - at >= DMA_UNIT && (find(at) || read_areas(&u));
}

uintptr_t dma_pin(uintptr_t at) {
    struct unit* u = malloc(sizeof *u);
    void* page = u ? dma_allocate(DMA_UNIT, DMA_UNIT) : NULL;
    if (!page) {
        free(u);
        return 0;
    }
    u->at = at, u->page = (uintptr_t)page, u->next = units;
    units = u;
    memset(page, 0, DMA_UNIT);
    if (!read_areas(u)) panic("the memory at %p cannot be moved", (void*)at);
    for (unsigned i = 0; i < u->count; ++i) /* from here on nothing may change what moves */
        if (u->area[i].protection & PROT_READ)
            memcpy((void*)(u->page + (u->area[i].begin - at)), (void*)u->area[i].begin,
                   u->area[i].end - u->area[i].begin);
    if (mmap((void*)at, DMA_UNIT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, client_files[0],
             client_file_offset((uintptr_t)page)) != (void*)at)
        panic("a huge page cannot be mapped at %p", (void*)at);
    return u->page;
}

/* Gaps between areas, and what could not be written, become so again. */
static void restore_areas(const struct unit* u) {
    uintptr_t at = u->at;
    for (unsigned i = 0; i <= u->count; ++i) {
        const struct area* a = &u->area[i];
        const uintptr_t begin = i < u->count ? a->begin : u->at + DMA_UNIT;
        if (begin > at) munmap((void*)at, begin - at);
        if (i == u->count) return;
        if (a->protection != (PROT_READ | PROT_WRITE)) mprotect((void*)a->begin, a->end - a->begin, a->protection);
        at = a->end;
    }
}

void dma_unpin(uintptr_t at) {
    struct unit** link = &units;
    while (*link && (*link)->at != at) link = &(*link)->next;
    struct unit* u = *link;
    if (!u) panic("%p was not given to devices", (void*)at);
    *link = u->next;
    void* page = (void*)u->page;
    void* copy = mmap(NULL, DMA_UNIT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) panic("no memory to move back what was at %p", (void*)at);
    memcpy(copy, page, DMA_UNIT); /* from here on nothing may change what moves */
    if (mremap(copy, DMA_UNIT, DMA_UNIT, MREMAP_MAYMOVE | MREMAP_FIXED, (void*)at) != (void*)at)
        panic("the memory at %p cannot be moved back", (void*)at);
    restore_areas(u);
    dma_free(page);
    free(u);
}

uintptr_t dma_pinned(uintptr_t at, uint64_t* bytes) {
    const struct unit* u = find(at);
    if (!u) return 0;
    const uint64_t rest = DMA_UNIT - (at - u->at);
    if (*bytes > rest) *bytes = rest;
    return u->page + (at - u->at);
}
