/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/gpu/placement.h"

#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/mmio.h"
#include "lib/words.h"

struct gpu_range {
    gpu_address at;
    uint64_t bytes;
    uint64_t page, pages; /* bytes of a page; what does not fill a large one has small ones, and counts as one */
    uint64_t block;       /* bytes that first touch moves at a time: a page or more */
    uint8_t* owner;       /* of each page, once they have settled */
    struct gpu_range* next;
};

unsigned gpu_place_interleaved(const struct gpu_node* node, uint64_t page, uint64_t pages, void* context) {
    (void)pages, (void)context;
    return node->first + (unsigned)(page % (node->count - node->first));
}

unsigned gpu_place_contiguous(const struct gpu_node* node, uint64_t page, uint64_t pages, void* context) {
    (void)context;
    return node->first + (unsigned)(page * (node->count - node->first) / pages);
}

unsigned gpu_place_on(const struct gpu_node* node, uint64_t page, uint64_t pages, void* gpu_index) {
    (void)node, (void)page, (void)pages;
    return (unsigned)(uintptr_t)gpu_index;
}

/* ⌈pitch ÷ GPUs⌉ in pages, LADM's equation 1. */
static uint64_t grain_of(uint64_t pitch, uint64_t gpus, uint64_t page) {
    return (pitch + gpus * page - 1) / (gpus * page);
}

unsigned gpu_place_lasp(const struct gpu_node* node, uint64_t page, uint64_t pages, void* context) {
    const struct gpu_layout* l = context;
    const uint64_t gpus = node->count, pitch = l->pitch ? l->pitch : l->page, at = page * l->page;
    const uint64_t grain = grain_of(pitch, gpus, l->page);
    switch (l->locality) {
        case GPU_STRIDED: return (unsigned)(page / grain % gpus);
        case GPU_BY_ROWS: {
            const uint64_t rows = (pages * l->page + pitch - 1) / pitch;
            return (unsigned)(at / pitch * gpus / rows);
        }
        case GPU_BY_COLUMNS: /* narrower than a page a GPU there are no columns of pages: all would fall to the first
                                GPUs */
            return (unsigned)(pitch < gpus * l->page ? page / grain % gpus : at % pitch * gpus / pitch);
        default: return gpu_place_contiguous(node, page, pages, NULL);
    }
}

static unsigned place_recorded(const struct gpu_node* node, uint64_t page, uint64_t pages, void* stretch) {
    (void)node, (void)pages;
    return ((const struct gpu_range*)stretch)->owner[page];
}

/* The pages of a buffer. */
static uint64_t page_of(const struct gpu_node* node, uint64_t bytes) {
    const unsigned gpus = node->count - node->first;
    for (unsigned g = node->first; g < node->count; ++g)
        if (node->gpu[g].page_bytes != GPU_LARGE_PAGE) return GPU_PAGE;
    return bytes / GPU_LARGE_PAGE < gpus ? GPU_PAGE : GPU_LARGE_PAGE;
}

/* What first touch moves at a time; as little as any GPU asks for. */
static uint64_t migration_size(const struct gpu_node* node) {
    uint64_t bytes = GPU_LARGE_PAGE;
    for (unsigned g = node->first; g < node->count; ++g) {
        const uint64_t own = mmio_read32(node->gpu[g].registers + GPU_MIGRATION_SIZE);
        if (own < bytes) bytes = own;
    }
    return bytes;
}

enum gpu_locality gpu_locality_of_row(unsigned row) {
    static const enum gpu_locality localities[] = {GPU_UNCLASSIFIED, GPU_STRIDED,    GPU_BY_ROWS,
                                                   GPU_BY_ROWS,      GPU_BY_COLUMNS, GPU_BY_COLUMNS};
    return row < sizeof localities / sizeof *localities ? localities[row] : GPU_UNCLASSIFIED;
}

enum gpu_binding gpu_binding_of_row(unsigned row) {
    if (row == 1) return GPU_BIND_ALIGNED;
    if (row == 2 || row == 4) return GPU_BIND_ROWS;
    return row == 3 || row == 5 ? GPU_BIND_COLUMNS : GPU_BIND_KERNEL;
}

uint32_t gpu_batch_of(const struct gpu_node* node, uint64_t bytes, uint64_t stride, uint32_t datablock) {
    const uint64_t page = page_of(node, bytes), held = grain_of(stride ? stride : page, node->count, page) * page;
    const uint64_t batch = datablock ? held / datablock : held / page;
    return batch > UINT32_MAX ? UINT32_MAX : batch ? (uint32_t)batch : 1;
}

static gpu_address allocate_recorded(struct gpu_node* node, uint64_t bytes) {
    struct gpu_range* s = node->recorded;
    const uint64_t page = page_of(node, bytes);
    if (!s) /* later than those that were noted */
        return gpu_allocate_pages(node, bytes, page, gpu_place_contiguous, NULL);
    if (s->bytes != bytes) panic("a buffer of %lu bytes has not settled before", bytes);
    node->recorded = s->next;
    const gpu_address at = gpu_allocate_pages(node, bytes, page, place_recorded, s);
    heap_free(s->owner);
    heap_free(s);
    return at;
}

gpu_address gpu_allocate_by(struct gpu_node* node, uint64_t bytes, enum gpu_placement_policy policy,
                            struct gpu_layout layout) {
    const uint64_t page = layout.page = page_of(node, bytes);
    switch (policy) {
        case GPU_PLACE_INTERLEAVED: return gpu_allocate_pages(node, bytes, page, gpu_place_interleaved, NULL);
        case GPU_PLACE_LASP: return gpu_allocate_pages(node, bytes, page, gpu_place_lasp, &layout);
        case GPU_PLACE_FIRST_TOUCH_RECORDED: return allocate_recorded(node, bytes);
        default: break;
    }
    if (policy != GPU_PLACE_FIRST_TOUCH) return gpu_allocate_pages(node, bytes, page, gpu_place_contiguous, NULL);
    const uint64_t wanted = migration_size(node), block = wanted > page ? wanted : page;
    gpu_align(node, block); /* so that no block has parts of two buffers */
    const gpu_address at = gpu_allocate_pages(node, bytes, page, gpu_place_contiguous, NULL);
    struct gpu_range* s = heap_allocate(sizeof *s);
    if (!s) panic("no host memory");
    *s = (struct gpu_range){at, bytes, page, (bytes + page - 1) / page, block, NULL, node->first_touch};
    node->first_touch = s;
    return at;
}

/* The page behind the one at `at`: what does not fill a large one has small ones. */
static uint64_t next_page(const struct gpu_range* s, uint64_t at) {
    return at + (s->bytes - at < s->page ? GPU_PAGE : s->page);
}

void gpu_unmap_first_touch(struct gpu_node* node) {
    for (const struct gpu_range* s = node->first_touch; s; s = s->next)
        for (uint64_t at = 0; at < s->bytes; at = next_page(s, at)) gpu_unmap_page(node, s->at + at);
}

/* The block of `touched`, in a buffer with first-touch placement, goes to GPU `gpu`. */
static void migrate_block(struct gpu_node* node, gpu_address touched, unsigned gpu) {
    const struct gpu_range* s = node->first_touch;
    while (s && (touched < s->at || touched - s->at >= s->bytes)) s = s->next;
    if (!s) {
        gpu_migrate_page(node, touched, gpu);
        return;
    }
    const uint64_t begin = (touched - s->at) & ~(s->block - 1);
    for (uint64_t at = begin; at < s->bytes && at < begin + s->block; at = next_page(s, at))
        gpu_migrate_page(node, s->at + at, gpu);
}

void gpu_record_first_touch(struct gpu_node* node) {
    while (node->first_touch) { /* the newest stands first; turned round, the oldest does */
        struct gpu_range* s = node->first_touch;
        node->first_touch = s->next;
        s->owner = heap_allocate(s->pages + 1);
        if (!s->owner) panic("no host memory");
        for (uint64_t page = 0; page < s->pages; ++page)
            s->owner[page] = (uint8_t)gpu_owner(node, gpu_physical(node, s->at + page * s->page))->index;
        s->next = node->recorded;
        node->recorded = s;
    }
}

void gpu_handle_page_requests(struct gpu_node* node) {
    for (unsigned g = 0; g < node->count; ++g) {
        const uintptr_t registers = node->gpu[g].registers;
        bool handled = false;
        for (uint64_t asked; (asked = mmio_read64(registers + GPU_PAGE_REQUEST)) & 1 && asked != UINT64_MAX;
             handled = true) /* ones: the GPU does not answer */
            migrate_block(node, (asked & 0x0fffffffffffffff) & ~(uint64_t)(GPU_PAGE - 1), g);
        if (handled) mmio_write32(registers + GPU_PAGE_RETRY, 1);
    }
}

bool gpu_placement_named(const char* name, enum gpu_placement_policy* policy) {
    static const char* const names[] = {"contiguous", "interleaved", "lasp", "first_touch", "first_touch_recorded"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; ++i)
        if (word_is(name, names[i])) {
            *policy = (enum gpu_placement_policy)i;
            return true;
        }
    return false;
}
