/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory and the address space of kernels. Tables have a shadow in host memory, so that nothing is ever read
 * back over PCIe. */
#include "drivers/gpu/pages.h"
#include "drivers/gpu/shared.h"
#include "lib/dma.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/mmio.h"

enum { LEVELS = 4, ENTRIES = 512, INDEX_BITS = 9, PAGE_BITS = 12 };

struct gpu_table {
    uint64_t physical;
    uint64_t entry[ENTRIES];
    struct gpu_table* below[ENTRIES];
    unsigned first, last; /* entries that the device does not have yet: first … last - 1 */
    struct gpu_table* next_changed;
};

/* Entries that follow each other travel by the copy engine, from so many on. */
enum { COPIED_ENTRIES = 32 };

static uint64_t pack(unsigned gpu, uint64_t offset) {
    return (uint64_t)(GPU_PA_GPU0 + gpu) << GPU_PA_APERTURE_SHIFT | offset;
}

static uint64_t place_of(const struct gpu* g, uint64_t offset) {
    return g->shared ? g->shared + offset : pack(g->index, offset);
}

struct gpu* gpu_owner(const struct gpu_node* node, uint64_t physical) {
    const unsigned where = (unsigned)(physical >> GPU_PA_APERTURE_SHIFT);
    if (where - GPU_PA_GPU0 < node->count) return (struct gpu*)&node->gpu[where - GPU_PA_GPU0];
    for (const struct gpu* g = node->gpu; where == GPU_PA_SYSTEM && g < node->gpu + node->count; ++g)
        if (g->shared && physical - g->shared < g->memory_bytes) return (struct gpu*)g;
    return NULL;
}

static uint64_t allocate_page(struct gpu_node* node, unsigned gpu) {
    struct gpu* g = &node->gpu[gpu];
    uint64_t offset;
    if (!gpu_take_page(g, &offset)) panic("gpu%u is out of memory", gpu);
    return place_of(g, offset);
}

/* Page tables lie in the GPU's own memory. \param fresh out: whether it has zeros, which are invalid entries, as device
 * memory does at first */
static uint64_t allocate_table(struct gpu_node* node, unsigned gpu, bool* fresh) {
    struct gpu* g = &node->gpu[gpu];
    uint64_t untaken;
    *fresh = true;
    if (!node->root && gpu_shared_root()) {
        *fresh = false;
        return place_of(g, gpu_shared_root());
    }
    if (!g->shared) {
        const bool is_untaken = gpu_take_fresh_page(g, &untaken);
        *fresh = is_untaken && DMA_DEVICES_ARE_FRESH;
        return is_untaken ? place_of(g, untaken) : allocate_page(node, gpu);
    }
    if (g->tables + GPU_PAGE > mmio_read64(g->registers + GPU_MEMORY_SIZE))
        panic("gpu%u is out of memory for page tables", gpu);
    const uint64_t offset = g->tables;
    g->tables += GPU_PAGE;
    return pack(gpu, offset);
}

static uint64_t allocate_large_pages(struct gpu_node* node, unsigned gpu, uint64_t count) {
    struct gpu* g = &node->gpu[gpu];
    uint64_t offset;
    if (!gpu_take_large_pages(g, count, &offset)) panic("gpu%u is out of memory", gpu);
    return place_of(g, offset);
}

static uint64_t allocate_large_page(struct gpu_node* node, unsigned gpu) { return allocate_large_pages(node, gpu, 1); }

/* CPU address of device memory. */
static uintptr_t cpu_address(const struct gpu_node* node, uint64_t physical) {
    return node->gpu[(physical >> GPU_PA_APERTURE_SHIFT) - GPU_PA_GPU0].memory + (physical & GPU_PA_OFFSET_MASK);
}

static struct gpu_table* changed; /* tables of which the device does not have all */

static struct gpu_table* new_table(struct gpu_node* node, unsigned gpu) {
    struct gpu_table* t = dma_allocate(sizeof *t, sizeof(uint64_t));
    if (!t && GPU_IS_SHARED) t = heap_allocate(sizeof *t); /* others may have what devices reach */
    if (!t) panic("no host memory for page tables");
    memset(t, 0, sizeof *t);
    bool fresh;
    t->physical = allocate_table(node, gpu, &fresh);
    if (!fresh) {
        t->last = ENTRIES;
        t->next_changed = changed;
        changed = t;
    }
    return t;
}

static void set_entry(struct gpu_table* t, unsigned index, uint64_t value) {
    t->entry[index] = value;
    if (t->first == t->last) {
        t->first = index;
        t->last = index + 1;
        t->next_changed = changed;
        changed = t;
    }
    if (index < t->first) t->first = index;
    if (index >= t->last) t->last = index + 1;
}

/* Gives the devices what has changed. Addresses that are being mapped are not used before it has returned. */
static void write_tables(struct gpu_node* node) {
    bool copied[MAX_GPUS] = {false};
    for (struct gpu_table* t = changed; t; t = t->next_changed) {
        const unsigned gpu = (unsigned)(t->physical >> GPU_PA_APERTURE_SHIFT) - GPU_PA_GPU0;
        if (t->last - t->first < COPIED_ENTRIES || !dma_reaches(t, sizeof *t)) continue;
        copied[gpu] = true;
        gpu_copy_post(&node->gpu[gpu], true, t->physical + 8 * t->first, (uintptr_t)&t->entry[t->first],
                      8 * (t->last - t->first));
        t->first = t->last = 0;
    }
    for (unsigned gpu = 0; gpu < MAX_GPUS; ++gpu)
        if (copied[gpu] && gpu_copy_wait(&node->gpu[gpu], true)) panic("gpu%u: page tables cannot be written", gpu);
    for (struct gpu_table* t = changed; t; t = t->next_changed) {
        const uintptr_t at = cpu_address(node, t->physical);
        for (unsigned i = t->first; i < t->last; ++i) mmio_write64(at + 8 * i, t->entry[i]);
        t->first = t->last = 0;
    }
    changed = NULL;
}

static unsigned index_at(gpu_address at, unsigned level) {
    return at >> (PAGE_BITS + INDEX_BITS * level) & (ENTRIES - 1);
}

void gpu_set_page_tables(const struct gpu_node* node) {
    if (!node->root) return;
    for (unsigned i = node->first; i < node->count; ++i) {
        mmio_write64(node->gpu[i].registers + GPU_SRAM_WINDOW + GPU_SRAM_SPACES + 8 * gpu_shared_space(),
                     node->root->physical);
        mmio_write32(node->gpu[i].registers + GPU_HOST_REQUEST, 1);
    }
}

/* A leaf of level 0 or 1. Tables of the last level lie on the GPU that holds the first page of their 2 MiB. */
static void map_page(struct gpu_node* node, gpu_address at, uint64_t physical, uint64_t flags, unsigned leaf) {
    const struct gpu* holder = gpu_owner(node, physical);
    const unsigned home = holder ? holder->index : node->first;
    if (!node->root) {
        node->root = new_table(node, home);
        gpu_set_page_tables(node);
    }
    struct gpu_table* t = node->root;
    for (unsigned level = LEVELS - 1; level > leaf; --level) {
        const unsigned i = index_at(at, level);
        if (!t->below[i]) {
            t->below[i] = new_table(node, home);
            set_entry(t, i, t->below[i]->physical >> PAGE_BITS << GPU_PTE_PPN_SHIFT | GPU_PTE_VALID);
        }
        t = t->below[i];
    }
    set_entry(t, index_at(at, leaf), physical >> PAGE_BITS << GPU_PTE_PPN_SHIFT | flags);
}

uint64_t gpu_physical(const struct gpu_node* node, gpu_address at) {
    const struct gpu_table* t = node->root;
    unsigned level = LEVELS - 1;
    for (; t && level > 0 && t->below[index_at(at, level)]; --level) t = t->below[index_at(at, level)];
    if (!t) return 0;
    const uint64_t entry = t->entry[index_at(at, level)];
    if (!(entry & (GPU_PTE_VALID | GPU_PTE_DEMAND)) || level > 1) return 0;
    return (entry >> GPU_PTE_PPN_SHIFT << PAGE_BITS & 0x00ffffffffffffffull) | at % (level ? GPU_LARGE_PAGE : GPU_PAGE);
}

/* The entry of a page, small or large: its place in a table of that level. */
struct leaf {
    struct gpu_table* table;
    unsigned level, index;
};
static struct leaf leaf_of(const struct gpu_node* node, gpu_address at) {
    struct gpu_table* t = node->root;
    unsigned level = LEVELS - 1;
    for (; t && level > 0 && t->below[index_at(at, level)]; --level) t = t->below[index_at(at, level)];
    if (!t || level > 1) panic("no page table for 0x%lx", at);
    return (struct leaf){t, level, index_at(at, level)};
}

void gpu_unmap_page(struct gpu_node* node, gpu_address at) {
    const struct leaf leaf = leaf_of(node, at);
    const uint64_t entry = leaf.table->entry[leaf.index];
    set_entry(leaf.table, leaf.index, (entry & ~(uint64_t)GPU_PTE_VALID) | GPU_PTE_DEMAND);
    write_tables(node);
}

/* By way of the host: not all GPUs reach each other. */
static void move_page(struct gpu_node* node, unsigned gpu, uint64_t to, uint64_t from, uint64_t bytes) {
    static uint64_t page[GPU_PAGE / 8] __attribute__((aligned(GPU_PAGE)));
    struct gpu *source = gpu_owner(node, from), *target = &node->gpu[gpu];
    unsigned fault = 0;
    for (uint64_t at = 0; at < bytes; at += GPU_PAGE) {
        gpu_copy_post(source, false, (uintptr_t)page, from + at, GPU_PAGE);
        fault |= gpu_copy_wait(source, false);
        gpu_copy_post(target, true, to + at, (uintptr_t)page, GPU_PAGE);
        fault |= gpu_copy_wait(target, true);
    }
    if (fault) panic("a page cannot be moved to gpu%u", gpu);
}

void gpu_migrate_page(struct gpu_node* node, gpu_address at, unsigned gpu) {
    const struct leaf leaf = leaf_of(node, at);
    uint64_t entry = leaf.table->entry[leaf.index];
    if (!(entry & GPU_PTE_DEMAND)) return; /* another GPU was first */
    const uint64_t ppn_mask = ((1ull << 44) - 1) << GPU_PTE_PPN_SHIFT;
    const uint64_t from = (entry & ppn_mask) >> GPU_PTE_PPN_SHIFT << PAGE_BITS;
    if (gpu_owner(node, from) != &node->gpu[gpu]) {
        const uint64_t to = leaf.level ? allocate_large_page(node, gpu) : allocate_page(node, gpu);
        move_page(node, gpu, to, from, leaf.level ? GPU_LARGE_PAGE : GPU_PAGE);
        entry = (entry & ~ppn_mask) | to >> PAGE_BITS << GPU_PTE_PPN_SHIFT;
    }
    set_entry(leaf.table, leaf.index, (entry & ~(uint64_t)GPU_PTE_DEMAND) | GPU_PTE_VALID);
    write_tables(node);
}

static uint64_t pages_of(uint64_t bytes) { return (bytes + GPU_PAGE - 1) / GPU_PAGE; }

static const uint64_t read_write =
    GPU_PTE_VALID | GPU_PTE_READ | GPU_PTE_WRITE | GPU_PTE_EXECUTE | GPU_PTE_ACCESSED | GPU_PTE_DIRTY;

gpu_address gpu_allocate(struct gpu_node* node, uint64_t bytes, gpu_placement place, void* context) {
    const gpu_address begin = node->next;
    const uint64_t pages = pages_of(bytes);
    for (uint64_t page = 0; page < pages; ++page)
        map_page(node, begin + page * GPU_PAGE, allocate_page(node, place(node, page, pages, context)), read_write, 0);
    write_tables(node);
    node->next = begin + (pages + 1) * GPU_PAGE; /* a page that faults between allocations */
    return begin;
}

gpu_address gpu_allocate_on(struct gpu_node* node, unsigned gpu, uint64_t bytes) {
    return gpu_allocate(node, bytes, gpu_place_on, (void*)(uintptr_t)gpu);
}

gpu_address gpu_allocate_pages(struct gpu_node* node, uint64_t bytes, uint64_t page, gpu_placement place,
                               void* context) {
    if (page == GPU_PAGE || bytes < page) return gpu_allocate(node, bytes, place, context);
    gpu_align(node, page);
    const gpu_address begin = node->next;
    const uint64_t pages = (bytes + page - 1) / page;
    uint64_t at = 0;
    for (; bytes - at >= page; at += page)
        map_page(node, begin + at, allocate_large_page(node, place(node, at / page, pages, context)), read_write, 1);
    for (; at < bytes; at += GPU_PAGE)
        map_page(node, begin + at, allocate_page(node, place(node, pages - 1, pages, context)), read_write, 0);
    write_tables(node);
    node->next = begin + at + GPU_PAGE;
    return begin;
}

gpu_address gpu_allocate_large(struct gpu_node* node, unsigned gpu, uint64_t bytes) {
    return gpu_allocate_pages(node, bytes, GPU_LARGE_PAGE, gpu_place_on, (void*)(uintptr_t)gpu);
}

void gpu_align(struct gpu_node* node, uint64_t alignment) {
    node->next = (node->next + alignment - 1) & ~(alignment - 1);
}

gpu_address gpu_allocate_contiguous(struct gpu_node* node, unsigned gpu, uint64_t bytes) {
    gpu_align(node, GPU_LARGE_PAGE);
    const gpu_address begin = node->next;
    const uint64_t pages = (bytes + GPU_LARGE_PAGE - 1) / GPU_LARGE_PAGE;
    const uint64_t physical = allocate_large_pages(node, gpu, pages);
    for (uint64_t page = pages; page-- > 0;)
        map_page(node, begin + page * GPU_LARGE_PAGE, physical + page * GPU_LARGE_PAGE, read_write, 1);
    write_tables(node);
    node->next = begin + pages * GPU_LARGE_PAGE + GPU_PAGE;
    return begin;
}

void gpu_free(struct gpu_node* node, gpu_address at, uint64_t bytes) {
    for (const gpu_address end = at + bytes; at < end;) {
        const struct leaf leaf = leaf_of(node, at);
        const uint64_t size = leaf.level ? GPU_LARGE_PAGE : GPU_PAGE, physical = gpu_physical(node, at);
        struct gpu* g = gpu_owner(node, physical);
        if (g) gpu_return_pages(g, g->shared ? physical - g->shared : physical & GPU_PA_OFFSET_MASK, size);
        set_entry(leaf.table, leaf.index, 0);
        at += size;
    }
    write_tables(node);
    ++node->unmapped;
}

uint64_t gpu_bus_address(const struct gpu_node* node, gpu_address at) {
    const uint64_t physical = gpu_physical(node, at);
    if (!physical) panic("nothing is mapped at 0x%lx", at);
    const uint64_t where = physical >> GPU_PA_APERTURE_SHIFT;
    if (where == GPU_PA_SYSTEM) return physical;
    return node->gpu[where - GPU_PA_GPU0].bus_memory + (physical & GPU_PA_OFFSET_MASK);
}

static void map_bus_at(struct gpu_node* node, gpu_address begin, uintptr_t bus, uint64_t bytes, bool writable,
                       uint64_t type) {
    const uint64_t flags =
        writable ? read_write & ~(uint64_t)GPU_PTE_EXECUTE : GPU_PTE_VALID | GPU_PTE_READ | GPU_PTE_ACCESSED;
    for (uint64_t at = 0; at < bytes; at += GPU_PAGE)
        map_page(node, begin + at, bus + at, flags | type << GPU_PTE_TYPE_SHIFT, 0);
    write_tables(node);
}

static gpu_address map_bus(struct gpu_node* node, uintptr_t bus, uint64_t bytes, bool writable, uint64_t type) {
    const gpu_address begin = node->next;
    map_bus_at(node, begin, bus, bytes, writable, type);
    node->next = begin + (pages_of(bytes) + 1) * GPU_PAGE;
    return begin;
}

void gpu_map_host_there(struct gpu_node* node, gpu_address at, uintptr_t bus, uint64_t bytes) {
    if (at < GPU_GLOBAL_BASE) panic("kernels do not reach 0x%lx: fixed apertures lie there", at);
    /* Memory at the host's own addresses comes and goes in smaller parts, which have a table. */
    if (at == bus || (at | bus | bytes) % GPU_LARGE_PAGE)
        return map_bus_at(node, at, bus, bytes, true, GPU_PTE_TYPE_UNCACHED);
    const uint64_t flags = (read_write & ~(uint64_t)GPU_PTE_EXECUTE) | (uint64_t)GPU_PTE_TYPE_UNCACHED
                                                                           << GPU_PTE_TYPE_SHIFT;
    for (uint64_t done = 0; done < bytes; done += GPU_LARGE_PAGE) map_page(node, at + done, bus + done, flags, 1);
    write_tables(node);
}

gpu_address gpu_map_host(struct gpu_node* node, void* memory, uint64_t bytes, bool writable) {
    return map_bus(node, (uintptr_t)memory, bytes, writable, GPU_PTE_TYPE_UNCACHED);
}

gpu_address gpu_map_device(struct gpu_node* node, uintptr_t at, uint64_t bytes) {
    return map_bus(node, at, bytes, true, GPU_PTE_TYPE_DEVICE);
}

/* Bytes from `at` on that lie behind each other in physical memory, at most `bytes`. */
static uint64_t stretch(gpu_address at, uint64_t bytes) {
    const uint64_t rest = GPU_PAGE - at % GPU_PAGE;
    return bytes < rest ? bytes : rest;
}

uintptr_t gpu_host_address(const struct gpu_node* node, gpu_address at) {
    const uint64_t physical = gpu_physical(node, at);
    if (physical >> GPU_PA_APERTURE_SHIFT == GPU_PA_SYSTEM) {
        if (!physical) panic("no device memory at 0x%lx", at);
        return physical;
    }
    return cpu_address(node, physical);
}

void gpu_write(struct gpu_node* node, gpu_address to, const void* from, uint64_t bytes) {
    const uint8_t* source = from;
    while (bytes) {
        const uint64_t part = stretch(to, bytes);
        const uintptr_t at = gpu_host_address(node, to);
        uint64_t i = 0;
        if (((at | (uintptr_t)source) & 7) == 0) { /* arguments of kernels: without a call for each word */
            const uint8_t* aligned = __builtin_assume_aligned(source, 8);
            for (; part - i >= 8; i += 8) {
                uint64_t word;
                __builtin_memcpy(&word, aligned + i, 8);
                mmio_write64(at + i, word);
            }
        }
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
        const uintptr_t at = gpu_host_address(node, from);
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
