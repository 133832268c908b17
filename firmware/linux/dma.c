/* SPDX-License-Identifier: Apache-2.0 */
/* The heap, in memory that devices reach. It lies on huge pages, which the kernel does not move, and each is mapped at
 * its own physical address: user space of RISC-V begins at 0, below the memory's end. So the driver's addresses are
 * those of devices, as on bare metal. */
#define _GNU_SOURCE
#include "lib/dma.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/heap.h"

enum { HUGE_PAGE = 2 << 20, MAX_HUGE_PAGES = 512, ORDINARY_BYTES = 4 << 20 };
static const char free_pages[] = "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages";
#define NO_PAGES "no huge pages are free: echo 32 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"

static uintptr_t begin, end; /* what devices reach */
static const char* problem;

bool dma_reaches(const void* at, uint64_t bytes) {
    return (uintptr_t)at >= begin && (uintptr_t)at < end && bytes <= end - (uintptr_t)at;
}

const char* dma_problem(void) { return problem; }

struct huge_page {
    uint64_t physical;
    uint8_t* at;
};

static unsigned count_free(void) {
    unsigned count = 0;
    FILE* file = fopen(free_pages, "r");
    if (file && fscanf(file, "%u", &count) != 1) count = 0;
    if (file) fclose(file);
    return count < MAX_HUGE_PAGES ? count : MAX_HUGE_PAGES;
}

/* Bits 54…0 of an entry of a page of 4 KiB: its frame, 0 for those who may not see it. */
static uint64_t physical_address(int map, const void* at) {
    uint64_t entry = 0;
    if (pread(map, &entry, sizeof entry, (off_t)((uintptr_t)at / 4096 * 8)) != sizeof entry) return 0;
    return (entry & ((UINT64_C(1) << 55) - 1)) * 4096;
}

static int by_address(const void* a, const void* b) {
    const uint64_t x = ((const struct huge_page*)a)->physical, y = ((const struct huge_page*)b)->physical;
    return x < y ? -1 : x > y;
}

/* The longest run of pages that lie behind each other; all others are given back. \returns its length */
static unsigned longest_run(struct huge_page* pages, unsigned count, unsigned* first) {
    unsigned best = 0, length = 0;
    qsort(pages, count, sizeof *pages, by_address);
    for (unsigned i = 0; i < count; ++i) {
        length = i && pages[i].physical == pages[i - 1].physical + HUGE_PAGE ? length + 1 : 1;
        if (length > best) best = length, *first = i + 1 - length;
    }
    for (unsigned i = 0; i < count; ++i)
        if (i < *first || i >= *first + best) munmap(pages[i].at, HUGE_PAGE);
    return best;
}

/* Shared, so that a fork() copies no page when one of the two writes to it. */
static unsigned take(struct huge_page* pages, unsigned count) {
    const int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (map < 0) return 0;
    unsigned taken = 0;
    for (; taken < count; ++taken) {
        uint8_t* at = mmap(NULL, HUGE_PAGE, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE, -1, 0);
        if (at == MAP_FAILED) break;
        pages[taken] = (struct huge_page){physical_address(map, at), at};
        if (!pages[taken].physical) {
            munmap(at, HUGE_PAGE);
            problem = "physical addresses are hidden (/proc/self/pagemap): GPUs need root";
            break;
        }
    }
    close(map);
    return taken;
}

static bool place(const struct huge_page* pages, unsigned count) {
    void* const target = (void*)pages[0].physical;
    const size_t bytes = (size_t)count * HUGE_PAGE;
    if (mmap(target, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) !=
        target)
        return false;
    for (unsigned i = 0; i < count; ++i)
        if (mremap(pages[i].at, HUGE_PAGE, HUGE_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (void*)pages[i].physical) ==
            MAP_FAILED)
            return false;
    begin = (uintptr_t)target;
    end = begin + bytes;
    return true;
}

/* Before main() and what registers programs. Without huge pages there is a heap all the same, and no GPU. */
__attribute__((constructor(101))) static void make_heap(void) {
    static struct huge_page pages[MAX_HUGE_PAGES];
    unsigned first = 0;
    const unsigned count = longest_run(pages, take(pages, count_free()), &first);
    if (!count) {
        if (!problem) problem = NO_PAGES;
    } else if (!place(pages + first, count)) {
        problem = "the huge pages' physical addresses are taken in this process";
    }
    if (!problem) return heap_initialize(begin, end);
    void* memory = mmap(NULL, ORDINARY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) heap_initialize((uintptr_t)memory, (uintptr_t)memory + ORDINARY_BYTES);
}
