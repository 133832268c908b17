/* SPDX-License-Identifier: Apache-2.0 */
/* Huge pages, which the kernel does not move: a file that processes map, page by page, at physical addresses. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/dma.h"
#include "lib/machine.h"
#include "linux/broker/broker.h"

enum { OWN = 255, PAGE = 4096 };
static const char free_pages[] = "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages";

/* In the order of physical addresses. */
static struct host_page {
    uint64_t physical;
    uint32_t index; /* in the file */
    uint8_t owner;
} pages[HOST_MAX_PAGES];
static unsigned count;
static int file = -1;
static uint8_t* memory;
static const char* problem = "no huge pages are free: echo 32 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";

static unsigned count_free(void) {
    unsigned free_count = 0;
    FILE* f = fopen(free_pages, "r");
    if (f && fscanf(f, "%u", &free_count) != 1) free_count = 0;
    if (f) fclose(f);
    return free_count < HOST_MAX_PAGES ? free_count : HOST_MAX_PAGES;
}

/* Bits 54…0 of an entry of a page of 4 KiB: its frame, 0 for those who may not see it. */
static uint64_t physical_address(int map, const void* at) {
    uint64_t entry = 0;
    if (pread(map, &entry, sizeof entry, (off_t)((uintptr_t)at / PAGE * 8)) != sizeof entry) return 0;
    return (entry & ((UINT64_C(1) << 55) - 1)) * PAGE;
}

static int by_address(const void* a, const void* b) {
    const uint64_t x = ((const struct host_page*)a)->physical, y = ((const struct host_page*)b)->physical;
    return x < y ? -1 : x > y;
}

static bool find_addresses(unsigned wanted) {
    const int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    for (unsigned i = 0; i < wanted; ++i) {
        const uint64_t physical = map < 0 ? 0 : physical_address(map, memory + (size_t)i * HOST_PAGE);
        if (physical) pages[count++] = (struct host_page){physical, i, 0};
    }
    if (map >= 0) close(map);
    qsort(pages, count, sizeof *pages, by_address);
    return count == wanted;
}

const char* host_pages_start(void) {
    const unsigned wanted = count_free();
    const size_t bytes = (size_t)wanted * HOST_PAGE;
    if (!wanted) return problem;
    file = memfd_create("fabricvp", MFD_CLOEXEC | MFD_HUGETLB | MFD_HUGE_2MB);
    if (file < 0 || ftruncate(file, (off_t)bytes) < 0) return problem;
    void* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    if (at == MAP_FAILED) return problem;
    memory = at;
    if (!find_addresses(wanted)) return "physical addresses are hidden (/proc/self/pagemap): the broker needs root";
    return NULL;
}

int host_pages_file(void) { return file; }

void host_pages_publish(void) {
    for (unsigned i = 0; i < count; ++i) shared->host_page[i] = (uint16_t)pages[i].index;
}

bool host_pages_take(unsigned owner, uint64_t wanted, struct broker_range* range) {
    unsigned run = 0;
    for (unsigned i = 0; i < count && wanted && wanted <= count; ++i) {
        const bool follows = run && pages[i].physical == pages[i - 1].physical + HOST_PAGE;
        run = pages[i].owner ? 0 : follows ? run + 1 : 1;
        if (run < wanted) continue;
        const unsigned first = i + 1 - run;
        for (unsigned p = first; p <= i; ++p) pages[p].owner = (uint8_t)owner;
        *range = (struct broker_range){first, pages[first].physical};
        return true;
    }
    return false;
}

void host_pages_drop(unsigned owner) {
    for (unsigned i = 0; i < count; ++i)
        if (pages[i].owner == owner) pages[i].owner = 0;
}

uint64_t host_pages_count(unsigned owner) {
    uint64_t found = 0;
    for (unsigned i = 0; i < count; ++i) found += pages[i].owner == owner;
    return found;
}

const void* host_pages_at(uint64_t physical) {
    for (unsigned i = 0; i < count; ++i)
        if (physical - pages[i].physical < HOST_PAGE)
            return memory + (size_t)pages[i].index * HOST_PAGE + (physical - pages[i].physical);
    return NULL;
}

/* ---- what the driver in the broker asks for: a word or two, at a physical address that the broker has elsewhere ----
 */

bool dma_reaches(const void* at, uint64_t bytes) {
    (void)at, (void)bytes;
    return false;
}

void* dma_allocate(size_t bytes, size_t alignment) {
    struct broker_range range;
    (void)alignment;
    if (bytes > HOST_PAGE || !host_pages_take(OWN, 1, &range)) panic("no huge page is left for the broker");
    return (void*)range.bytes;
}

void dma_free(void* block) { (void)block; }
