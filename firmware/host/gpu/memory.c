/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory and the address space of kernels. Tables have a shadow in host memory, so that nothing is ever read back
 * over PCIe. */
#include "host/gpu/gpu.h"
#include "host/heap.h"
#include "host/machine.h"
#include "host/mmio.h"

enum { LEVELS = 4, ENTRIES = 512, INDEX_BITS = 9, PAGE_BITS = 12 };

struct gpu_table {
    uint64_t physical;
    uint64_t entry[ENTRIES];
    struct gpu_table* below[ENTRIES];
};

static uint64_t pack(unsigned gpu, uint64_t offset) { return (uint64_t)(GPU_PA_GPU0 + gpu) << GPU_PA_WHERE_SHIFT | offset; }

static uint64_t take_page(struct gpu_node* node, unsigned gpu) {
    struct gpu* g = &node->gpu[gpu];
    if (g->memory_bytes - g->free < GPU_PAGE) panic("gpu%u is out of memory", gpu);
    const uint64_t offset = g->free;
    g->free += GPU_PAGE;
    return pack(gpu, offset);
}

/* CPU address of device memory. */
static uintptr_t cpu_address(const struct gpu_node* node, uint64_t physical) {
    return node->gpu[(physical >> GPU_PA_WHERE_SHIFT) - GPU_PA_GPU0].memory + (physical & GPU_PA_OFFSET_MASK);
}

static struct gpu_table* new_table(struct gpu_node* node, unsigned gpu) {
    struct gpu_table* t = heap_allocate(sizeof *t);
    if (!t) panic("no host memory for page tables");
    memset(t, 0, sizeof *t);
    t->physical = take_page(node, gpu); /* device memory starts as zeros, which are invalid entries */
    return t;
}

static void set_entry(struct gpu_node* node, struct gpu_table* t, unsigned index, uint64_t value) {
    t->entry[index] = value;
    mmio_write64(cpu_address(node, t->physical) + 8 * index, value);
}

static unsigned index_at(gpu_address at, unsigned level) { return at >> (PAGE_BITS + INDEX_BITS * level) & (ENTRIES - 1); }

void gpu_publish_tables(const struct gpu_node* node) {
    if (!node->root) return;
    for (unsigned i = 0; i < node->count; ++i) {
        mmio_write64(node->gpu[i].registers + GPU_SRAM_WINDOW + GPU_SRAM_SPACES, node->root->physical);
        mmio_write32(node->gpu[i].registers + GPU_HOST_REQUEST, 1);
    }
}

/* Tables of the last level lie on the GPU that holds the first page of their 2 MiB. */
static void map_page(struct gpu_node* node, gpu_address at, uint64_t physical, uint64_t flags) {
    const unsigned where = (unsigned)(physical >> GPU_PA_WHERE_SHIFT);
    const unsigned home = where >= GPU_PA_GPU0 && where < GPU_PA_GPU0 + GPU_MOST ? where - GPU_PA_GPU0 : 0;
    if (!node->root) {
        node->root = new_table(node, home);
        gpu_publish_tables(node);
    }
    struct gpu_table* t = node->root;
    for (unsigned level = LEVELS - 1; level > 0; --level) {
        const unsigned i = index_at(at, level);
        if (!t->below[i]) {
            t->below[i] = new_table(node, home);
            set_entry(node, t, i, t->below[i]->physical >> PAGE_BITS << GPU_PTE_PPN_SHIFT | GPU_PTE_VALID);
        }
        t = t->below[i];
    }
    set_entry(node, t, index_at(at, 0), physical >> PAGE_BITS << GPU_PTE_PPN_SHIFT | flags);
}

uint64_t gpu_physical(const struct gpu_node* node, gpu_address at) {
    const struct gpu_table* t = node->root;
    for (unsigned level = LEVELS - 1; t && level > 0; --level) t = t->below[index_at(at, level)];
    if (!t || !(t->entry[index_at(at, 0)] & (GPU_PTE_VALID | GPU_PTE_DEMAND))) return 0;
    return (t->entry[index_at(at, 0)] >> GPU_PTE_PPN_SHIFT << PAGE_BITS & 0x00ffffffffffffffull) | at % GPU_PAGE;
}

static uint64_t* leaf_of(const struct gpu_node* node, gpu_address at, struct gpu_table** table) {
    struct gpu_table* t = node->root;
    for (unsigned level = LEVELS - 1; t && level > 0; --level) t = t->below[index_at(at, level)];
    if (!t) panic("no page table for 0x%lx", at);
    *table = t;
    return &t->entry[index_at(at, 0)];
}

void gpu_withdraw(struct gpu_node* node, gpu_address at) {
    struct gpu_table* table;
    const uint64_t* entry = leaf_of(node, at, &table);
    set_entry(node, table, index_at(at, 0), (*entry & ~(uint64_t)GPU_PTE_VALID) | GPU_PTE_DEMAND);
}

void gpu_grant(struct gpu_node* node, gpu_address at, unsigned gpu) {
    struct gpu_table* table;
    uint64_t entry = *leaf_of(node, at, &table);
    if (!(entry & GPU_PTE_DEMAND)) return; /* somebody else was first */
    const uint64_t ppn_mask = ((1ull << 44) - 1) << GPU_PTE_PPN_SHIFT;
    const uint64_t from = (entry & ppn_mask) >> GPU_PTE_PPN_SHIFT << PAGE_BITS;
    if (from >> GPU_PA_WHERE_SHIFT != GPU_PA_GPU0 + gpu) {
        const uint64_t to = take_page(node, gpu);
        const uintptr_t source = cpu_address(node, from), target = cpu_address(node, to);
        for (unsigned i = 0; i < GPU_PAGE; i += 8) mmio_write64(target + i, mmio_read64(source + i));
        entry = (entry & ~ppn_mask) | to >> PAGE_BITS << GPU_PTE_PPN_SHIFT;
    }
    set_entry(node, table, index_at(at, 0), (entry & ~(uint64_t)GPU_PTE_DEMAND) | GPU_PTE_VALID);
}

static uint64_t pages_of(uint64_t bytes) { return (bytes + GPU_PAGE - 1) / GPU_PAGE; }

static const uint64_t read_write = GPU_PTE_VALID | GPU_PTE_READ | GPU_PTE_WRITE | GPU_PTE_EXECUTE | GPU_PTE_ACCESSED | GPU_PTE_DIRTY;

gpu_address gpu_allocate(struct gpu_node* node, uint64_t bytes, gpu_placement place, void* context) {
    const gpu_address begin = node->next;
    const uint64_t pages = pages_of(bytes);
    for (uint64_t page = 0; page < pages; ++page)
        map_page(node, begin + page * GPU_PAGE, take_page(node, place(node, page, pages, context)), read_write);
    node->next = begin + (pages + 1) * GPU_PAGE; /* a page that faults between allocations */
    return begin;
}

gpu_address gpu_allocate_on(struct gpu_node* node, unsigned gpu, uint64_t bytes) {
    return gpu_allocate(node, bytes, gpu_place_on, (void*)(uintptr_t)gpu);
}

void gpu_align(struct gpu_node* node, uint64_t alignment) { node->next = (node->next + alignment - 1) & ~(alignment - 1); }

gpu_address gpu_map_host(struct gpu_node* node, void* memory, uint64_t bytes, bool writable) {
    const gpu_address begin = node->next;
    const uint64_t flags = writable ? read_write & ~(uint64_t)GPU_PTE_EXECUTE : GPU_PTE_VALID | GPU_PTE_READ | GPU_PTE_ACCESSED;
    for (uint64_t at = 0; at < bytes; at += GPU_PAGE)
        map_page(node, begin + at, (uintptr_t)memory + at, flags | GPU_PTE_TYPE_UNCACHED << GPU_PTE_TYPE_SHIFT);
    node->next = begin + (pages_of(bytes) + 1) * GPU_PAGE;
    return begin;
}

/* Bytes from `at` on that lie behind each other in physical memory, at most `bytes`. */
static uint64_t stretch(gpu_address at, uint64_t bytes) {
    const uint64_t rest = GPU_PAGE - at % GPU_PAGE;
    return bytes < rest ? bytes : rest;
}

uintptr_t gpu_reach(const struct gpu_node* node, gpu_address at) {
    const uint64_t physical = gpu_physical(node, at);
    if (physical >> GPU_PA_WHERE_SHIFT == GPU_PA_SYSTEM) {
        if (!physical) panic("no device memory at 0x%lx", at);
        return physical;
    }
    return cpu_address(node, physical);
}

void gpu_write(struct gpu_node* node, gpu_address to, const void* from, uint64_t bytes) {
    const uint8_t* source = from;
    while (bytes) {
        const uint64_t part = stretch(to, bytes);
        const uintptr_t at = gpu_reach(node, to);
        uint64_t i = 0;
        for (; i < part && (at + i) % 8; ++i) mmio_write8(at + i, source[i]);
        for (; part - i >= 8; i += 8) {
            uint64_t word;
            memcpy(&word, source + i, 8);
            mmio_write64(at + i, word);
        }
        for (; i < part; ++i) mmio_write8(at + i, source[i]);
        to += part, source += part, bytes -= part;
    }
}

void gpu_read(struct gpu_node* node, void* to, gpu_address from, uint64_t bytes) {
    uint8_t* target = to;
    while (bytes) {
        const uint64_t part = stretch(from, bytes);
        const uintptr_t at = gpu_reach(node, from);
        uint64_t i = 0;
        for (; i < part && (at + i) % 8; ++i) target[i] = mmio_read8(at + i);
        for (; part - i >= 8; i += 8) {
            const uint64_t word = mmio_read64(at + i);
            memcpy(target + i, &word, 8);
        }
        for (; i < part; ++i) target[i] = mmio_read8(at + i);
        from += part, target += part, bytes -= part;
    }
}
