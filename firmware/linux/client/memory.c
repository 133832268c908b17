/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that devices reach: huge pages of the broker's, taken when they are needed and kept until the process ends. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/dma.h"
#include "lib/machine.h"
#include "linux/client/client.h"

enum { PAGE = 4096 };

/* All of it, in the order of addresses: blocks in use, free ones, and gaps that other processes have. */
struct stretch {
    uintptr_t begin, end;
    bool used;
    struct stretch* next;
};
static struct stretch* all;

/* Huge pages of this process, and where in the broker's file they are. */
static struct {
    uintptr_t at;
    uint16_t place;
} pages[HOST_MAX_PAGES];
static unsigned page_count;

off_t client_file_offset(uintptr_t at) {
    for (unsigned i = 0; i < page_count; ++i)
        if (pages[i].at == at) return (off_t)pages[i].place * HOST_PAGE;
    panic("%p is no huge page of this process", (void*)at);
}

static struct stretch* insert(struct stretch** at, uintptr_t begin, uintptr_t end) {
    struct stretch* s = malloc(sizeof *s);
    if (!s) panic("no memory for a note");
    *s = (struct stretch){begin, end, false, *at};
    return *at = s;
}

bool dma_reaches(const void* at, uint64_t bytes) {
    uintptr_t begin = (uintptr_t)at;
    const uintptr_t end = begin + bytes;
    for (const struct stretch* s = all; s && begin < end && s->begin <= begin; s = s->next)
        if (begin < s->end) begin = s->end;
    return end >= (uintptr_t)at && begin >= end;
}

static void join(struct stretch* s) {
    while (s && s->next && !s->used && !s->next->used && s->end == s->next->begin) {
        struct stretch* gone = s->next;
        s->end = gone->end;
        s->next = gone->next;
        free(gone);
    }
}

static void add(uintptr_t begin, uintptr_t end) {
    struct stretch **at = &all, *before = NULL;
    for (; *at && (*at)->begin < begin; at = &(*at)->next) before = *at;
    struct stretch* added = insert(at, begin, end);
    join(added);
    join(before);
}

/* Pages that lie behind each other in physical memory do in the process. */
static bool grow(size_t bytes) {
    struct broker_message m = {.kind = BROKER_HOST_PAGES, .value = (bytes + HOST_PAGE - 1) / HOST_PAGE};
    if (!client_shared || !client_ask(&m)) return false;
    const uintptr_t begin = m.range[0].bytes, end = begin + m.value * HOST_PAGE;
    for (uintptr_t at = begin; at < end; at += HOST_PAGE) {
        pages[page_count].at = at;
        pages[page_count++].place = client_shared->host_page[m.range[0].at + (at - begin) / HOST_PAGE];
        if (mmap((void*)at, HOST_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, client_files[0],
                 client_file_offset(at)) != (void*)at)
            panic("the physical addresses of huge pages are taken in this process");
    }
    add(begin, end);
    return true;
}

bool client_take_memory(void) { return grow(1); }

/* Divides a free block. \returns the part from `at` on, if that is inside */
static struct stretch* split(struct stretch* s, uintptr_t at) {
    if (at == s->begin || at == s->end) return s;
    insert(&s->next, at, s->end);
    s->end = at;
    return s->next;
}

static void* find(size_t bytes, size_t alignment) {
    for (struct stretch* s = all; s; s = s->next) {
        const uintptr_t begin = (s->begin + alignment - 1) & ~(uintptr_t)(alignment - 1);
        if (s->used || begin >= s->end || s->end - begin < bytes) continue;
        s = split(s, begin);
        split(s, begin + bytes);
        s->used = true;
        return (void*)begin;
    }
    return NULL;
}

/* Alignments are those of pages of 4 KiB or 2 MiB. */
void* dma_allocate(size_t bytes, size_t alignment) {
    if (!bytes || bytes > SIZE_MAX / 2) return NULL;
    if (alignment < PAGE) alignment = PAGE;
    bytes = (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
    void* found = find(bytes, alignment);
    return found || !grow(bytes) ? found : find(bytes, alignment);
}

void dma_free(void* block) {
    if (!block) return;
    struct stretch *s = all, *before = NULL;
    for (; s && s->begin != (uintptr_t)block; s = s->next) before = s;
    if (!s || !s->used) panic("%p is no memory that devices reach", block);
    s->used = false;
    join(s);
    join(before);
}
