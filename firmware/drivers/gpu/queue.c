/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/kernel_descriptor.h"
#include "drivers/gpu/elf.h"
#include "drivers/gpu/gpu.h"
#include "drivers/gpu/images.h"
#include "drivers/gpu/shared.h"
#include "lib/console.h"
#include "lib/dma.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/mmio.h"
#include "lib/timer.h"

enum { ACKNOWLEDGE_TIMEOUT_US = 10000, MAX_LINKED = 64 };

struct code_place {
    unsigned first, copies;
};

static unsigned place_code(const struct gpu_node* node, uint64_t page, uint64_t pages, void* place) {
    (void)node;
    const struct code_place* p = place;
    return p->first + (unsigned)(page / (pages / p->copies));
}

static gpu_address load_image(struct gpu_node* node, struct code_place place, const void* elf, uint64_t bytes) {
    struct elf_segment s;
    uint64_t end = 0;
    for (unsigned i = 0; elf_next_segment(elf, bytes, &i, &s);) {
        if (s.address < GPU_CODE_BASE || s.address + s.memory_bytes > GPU_CODE_BASE + (uint64_t)GPU_CODE_SIZE) return 0;
        if (s.address + s.memory_bytes - GPU_CODE_BASE > end) end = s.address + s.memory_bytes - GPU_CODE_BASE;
    }
    if (!end) return 0;
    struct gpu_image* known = heap_allocate(sizeof *known);
    if (!known) return 0;
    const uint64_t copy_bytes = (end + GPU_PAGE - 1) / GPU_PAGE * GPU_PAGE;
    const gpu_address image = gpu_allocate(node, place.copies * copy_bytes, place_code, &place);
    unsigned fault = 0;
    for (unsigned copy = 0; copy < place.copies; ++copy)
        for (unsigned i = 0; elf_next_segment(elf, bytes, &i, &s);)
            fault |= gpu_copy_to(node, image + copy * copy_bytes + (s.address - GPU_CODE_BASE), s.data, s.file_bytes);
    *known = (struct gpu_image){image, copy_bytes, place.copies, elf, bytes, node->images};
    node->images = known;
    if (!fault) return image;
    gpu_unload_image(node, image);
    return 0;
}

gpu_address gpu_load_image(struct gpu_node* node, const void* elf, uint64_t bytes) {
    return load_image(node, (struct code_place){node->first, gpu_connected_count(node)}, elf, bytes);
}

gpu_address gpu_load_image_on(struct gpu_node* node, unsigned gpu, const void* elf, uint64_t bytes) {
    return load_image(node, (struct code_place){gpu, 1}, elf, bytes);
}

void gpu_unload_image(struct gpu_node* node, gpu_address image) {
    for (struct gpu_image** at = &node->images; *at; at = &(*at)->next)
        if ((*at)->at == image) {
            struct gpu_image* known = *at;
            *at = known->next;
            gpu_free(node, image, known->copies * known->at_bytes);
            heap_free(known);
            return;
        }
}

/* Whether a name that does not fit a descriptor is `name`. */
static bool has_long_name(const void* elf, uint64_t bytes, const struct kernel_descriptor* k, const char* name) {
    struct elf_segment s;
    uint64_t at;
    memcpy(&at, k->name + KERNEL_DESCRIPTOR_LONG_NAME, sizeof at);
    at += GPU_CODE_BASE;
    for (unsigned i = 0; elf_next_segment(elf, bytes, &i, &s);)
        if (at >= s.address && at - s.address < s.file_bytes)
            return strncmp((const char*)s.data + (at - s.address), name, s.file_bytes - (at - s.address)) == 0;
    return false;
}

/* Descriptors begin with a magic number and lie 8-byte aligned in the file's segments. */
struct gpu_kernel gpu_find_kernel(const struct gpu_node* node, const void* elf, uint64_t bytes, gpu_address image,
                                  const char* name) {
    const struct gpu_image* known = node->images;
    while (known && known->at != image) known = known->next;
    struct elf_segment s;
    for (unsigned i = 0; known && elf_next_segment(elf, bytes, &i, &s);)
        for (uint64_t at = 0; at + sizeof(struct kernel_descriptor) <= s.file_bytes; at += 8) {
            struct kernel_descriptor k;
            memcpy(&k, s.data + at, sizeof k);
            if (k.magic != KERNEL_DESCRIPTOR_MAGIC || k.image_offset != s.address + at - GPU_CODE_BASE) continue;
            if (!*name || (k.name[0] ? strncmp(k.name, name, sizeof k.name) == 0 : has_long_name(elf, bytes, &k, name)))
                return (struct gpu_kernel){image + k.image_offset, k.kernarg_bytes, known->copies, known->at_bytes};
        }
    return (struct gpu_kernel){0};
}

struct gpu_kernel gpu_linked_kernel(struct gpu_node* node, const char* file, const char* name) {
    static struct {
        const struct image* image;
        struct gpu_kernel kernel;
    } loaded[MAX_LINKED];
    const struct image* image = find_image(file);
    if (!image) panic("no kernel '%s'", file);
    unsigned n = 0;
    for (; n < MAX_LINKED && loaded[n].image; ++n)
        if (loaded[n].image == image) return loaded[n].kernel;
    const gpu_address at = gpu_load_image(node, image->start, image->bytes);
    const struct gpu_kernel kernel =
        at ? gpu_find_kernel(node, image->start, image->bytes, at, name) : (struct gpu_kernel){0};
    if (!kernel.object || n == MAX_LINKED) panic("kernel '%s' is malformed", name);
    loaded[n].image = image;
    return loaded[n].kernel = kernel;
}

static uintptr_t entry_of(const struct gpu_queue_handle* q) {
    return q->gpu->registers + GPU_SRAM_WINDOW + GPU_SRAM_QUEUES + q->index * sizeof(struct gpu_queue);
}

static void request(const struct gpu_queue_handle* q) { mmio_write32(q->gpu->registers + GPU_HOST_REQUEST, 1); }

static void* host_pages(uint64_t bytes) {
    void* p = dma_allocate((bytes + GPU_PAGE - 1) & ~(uint64_t)(GPU_PAGE - 1), GPU_PAGE);
    if (!p) panic("no host memory for a queue");
    return p;
}

static bool wants_interrupts(const struct gpu* g) {
    return g->delivery != PCI_POLLED || (GPU_IS_SHARED && g->notifies);
}

/* Empties ring and signals, and hands the queue to the command processor. */
static void activate(struct gpu_queue_handle* q) {
    const uint64_t invalid = AQL_TYPE_INVALID;
    q->notifies = wants_interrupts(q->gpu);
    const struct aql_signal signal = {.kind = 1, .event_id = q->notifies};
    for (uint32_t i = 0; i < q->packets; ++i) {
        gpu_write(q->node, q->ring + 64 * i, &invalid, 8);
        gpu_write(q->node, q->signals_at + 64 * i, &signal, sizeof signal);
    }
    q->next = 0;
    memset(q->done, 0, sizeof q->done);
    uint64_t words[sizeof q->description / 8];
    memcpy(words, &q->description, sizeof words);
    for (unsigned i = sizeof words / 8; i-- > 0;) mmio_write64(entry_of(q) + 8 * i, words[i]); /* the state last */
    request(q);
}

void gpu_create_queue(struct gpu_queue_handle* q, struct gpu_node* node, unsigned gpu, uint32_t packets, unsigned flags,
                      unsigned priority) {
    struct gpu* g = &node->gpu[gpu];
    memset(q, 0, sizeof *q);
    while (g->queues >> q->index & 1)
        if (++q->index == GPU_QUEUES) panic("gpu%u has no queue left", gpu);
    g->queues |= 1ull << q->index;
    q->node = node;
    q->gpu = g;
    q->flags = flags;
    q->packets = packets;
    q->unmapped = node->unmapped ? node->unmapped - 1 : 0; /* the GPU may hold stale translations already */
    const uint64_t signal_bytes = packets * sizeof(struct aql_signal), ring_bytes = (uint64_t)packets * 64;
    if (!(flags & GPU_SIGNALS_ON_DEVICE)) q->signals = host_pages(signal_bytes);
    q->signals_at =
        q->signals ? gpu_map_host(node, q->signals, signal_bytes, true) : gpu_allocate_on(node, gpu, signal_bytes);
    q->ring = flags & GPU_RING_IN_HOST ? gpu_map_host(node, host_pages(ring_bytes), ring_bytes, true)
                                       : gpu_allocate_on(node, gpu, ring_bytes);
    q->kernargs = gpu_allocate_on(node, gpu, (uint64_t)packets * GPU_KERNARG_BYTES);
    const uint64_t scratch_bytes = (flags & GPU_SMALL_SCRATCH ? 1 : g->compute_units) * gpu_scratch_bytes(g);
    q->description = (struct gpu_queue){.state = GPU_QUEUE_ACTIVE,
                                        .priority = priority,
                                        .packets = packets,
                                        .address_space = gpu_shared_space(),
                                        .ring = q->ring,
                                        .scratch = gpu_allocate_large(node, gpu, scratch_bytes),
                                        .scratch_bytes = scratch_bytes};
    activate(q);
}

static bool wait_acknowledged(void* context) {
    const struct gpu_queue_handle* q = context;
    return mmio_read32(entry_of(q) + offsetof(struct gpu_queue, acknowledged)) == GPU_QUEUE_FREE;
}

static bool deactivate(struct gpu_queue_handle* q) {
    mmio_write32(entry_of(q) + offsetof(struct gpu_queue, state), GPU_QUEUE_FREE);
    request(q);
    for (unsigned waited = 0; waited < ACKNOWLEDGE_TIMEOUT_US; waited += 10) {
        if (wait_acknowledged(q)) return true;
        timer_wait(10);
    }
    return false;
}

bool gpu_reset_queue(struct gpu_queue_handle* q) {
    if (!deactivate(q)) return false;
    activate(q);
    return true;
}

bool gpu_assign_queue(struct gpu_queue_handle* q, unsigned hart) {
    if (!deactivate(q)) return false;
    const uintptr_t at = q->gpu->registers + GPU_QUEUE_HART + 4 * q->index;
    mmio_write32(at, hart);
    const bool acknowledged = mmio_read32(at) == hart;
    activate(q);
    return acknowledged;
}

static void free_device(struct gpu_queue_handle* q, gpu_address at, uint64_t bytes) { gpu_free(q->node, at, bytes); }

static void free_host(struct gpu_queue_handle* q, gpu_address at, uint64_t bytes) {
    void* memory = (void*)gpu_host_address(q->node, at);
    gpu_free(q->node, at, bytes);
    dma_free(memory);
}

bool gpu_destroy_queue(struct gpu_queue_handle* q) {
    if (!deactivate(q)) return false;
    gpu_shared_give_queue(q->gpu, q->index);
    const uint64_t packets = q->packets;
    (q->signals ? free_host : free_device)(q, q->signals_at, packets * sizeof(struct aql_signal));
    (q->flags & GPU_RING_IN_HOST ? free_host : free_device)(q, q->ring, packets * 64);
    gpu_free(q->node, q->kernargs, packets * GPU_KERNARG_BYTES);
    if (q->large_kernargs) gpu_free(q->node, q->large_kernargs, packets * GPU_LARGE_KERNARG_BYTES);
    gpu_free(q->node, q->description.scratch, q->description.scratch_bytes);
    return true;
}

gpu_address gpu_signal_address(const struct gpu_queue_handle* q, uint64_t packet) {
    return q->signals_at + (packet & (q->packets - 1)) * sizeof(struct aql_signal);
}

volatile struct aql_signal* gpu_signal(const struct gpu_queue_handle* q, uint64_t packet) {
    if (q->signals) return &q->signals[packet & (q->packets - 1)];
    return (volatile struct aql_signal*)gpu_host_address(q->node, gpu_signal_address(q, packet));
}

/* A packet's slot, signal and arguments can be used again when the one that had them has completed. */
static void await_slot(struct gpu_queue_handle* q) {
    const uint32_t slot = q->next & (q->packets - 1);
    if (slot < GPU_KNOWN_SLOTS && q->done[slot / 64] >> slot % 64 & 1) return;
    if (q->next >= q->packets) gpu_wait(q, q->next - q->packets);
}

/* Whether the slot can be used again without a look at its signal, which the GPU has written and is far away. */
static void note_done(struct gpu_queue_handle* q, uint32_t slot, bool done) {
    if (slot >= GPU_KNOWN_SLOTS) return;
    const uint64_t bit = UINT64_C(1) << slot % 64;
    q->done[slot / 64] = done ? q->done[slot / 64] | bit : q->done[slot / 64] & ~bit;
}

void gpu_note_completed(struct gpu_queue_handle* q, uint64_t packet) {
    if (q->next - packet <= q->packets) note_done(q, packet & (q->packets - 1), true);
}

/* Signals say whether the host waits for an interrupt. It changes its mind rarely, so a submission does not write that
 * each time. */
static void set_notification(struct gpu_queue_handle* q) {
    const bool notifies = wants_interrupts(q->gpu);
    if (q->notifies == notifies) return;
    q->notifies = notifies;
    for (uint32_t i = 0; i < q->packets; ++i) gpu_signal(q, i)->event_id = notifies;
}

/* Pages that were freed are other buffers' by now. */
void gpu_drop_stale_translations(struct gpu_queue_handle* q) {
    if (q->unmapped == q->node->unmapped) return;
    q->unmapped = q->node->unmapped;
    const uint64_t packet[8] = {(uint64_t)AQL_VENDOR_INVALIDATE_TLB << 16};
    gpu_submit(q, packet, AQL_TYPE_VENDOR);
}

uint64_t gpu_submit_as(struct gpu_queue_handle* q, const uint64_t packet[8], uint16_t header) {
    gpu_drop_stale_translations(q);
    await_slot(q);
    const uint64_t index = q->next++;
    const bool signalled = packet[7] != GPU_UNSIGNALLED;
    const uint32_t slot = index & (q->packets - 1);
    note_done(q, slot, !signalled);
    uint64_t words[8];
    memcpy(words, packet, sizeof words);
    if (signalled) {
        set_notification(q);
        gpu_signal(q, index)->value = 1;
    }
    if (!signalled)
        words[7] = 0;
    else if (!words[7])
        words[7] = gpu_signal_address(q, index);
    words[0] = (words[0] & ~(uint64_t)0xffff) | header;
    const uintptr_t to = gpu_host_address(q->node, q->ring + slot * UINT64_C(64));
    for (unsigned i = 1; i < 8; ++i) mmio_write64(to + 8 * i, words[i]);
    __asm__ volatile("fence iorw, ow" ::: "memory");
    mmio_write64(to, words[0]);
    __asm__ volatile("fence iorw, o" ::: "memory");
    q->gpu->doorbells[q->index] = index;
    return index;
}

uint64_t gpu_submit(struct gpu_queue_handle* q, const uint64_t packet[8], unsigned type) {
    const unsigned fences = AQL_FENCE_SYSTEM << AQL_HEADER_ACQUIRE_SHIFT | AQL_FENCE_SYSTEM << AQL_HEADER_RELEASE_SHIFT;
    return gpu_submit_as(q, packet, (uint16_t)(type | fences | (packet[0] & AQL_HEADER_BARRIER)));
}

/* A GPU without a copy of its own, if there is one, runs the first. */
static gpu_address object_on(const struct gpu_queue_handle* q, const struct gpu_kernel* kernel) {
    const unsigned copy = (unsigned)(q->gpu - q->node->gpu) - q->node->first;
    return kernel->object + (copy < kernel->copies ? copy * kernel->copy_bytes : 0);
}

uint64_t gpu_dispatch(struct gpu_queue_handle* q, struct gpu_kernel kernel, const struct gpu_grid* grid,
                      const void* arguments, uint32_t bytes) {
    if (bytes > GPU_LARGE_KERNARG_BYTES) panic("kernel arguments of %u bytes", bytes);
    gpu_drop_stale_translations(q);
    await_slot(q);
    const bool large = bytes > GPU_KERNARG_BYTES;
    if (large && !q->large_kernargs)
        q->large_kernargs =
            gpu_allocate_on(q->node, (unsigned)(q->gpu - q->node->gpu), (uint64_t)q->packets * GPU_LARGE_KERNARG_BYTES);
    const gpu_address kernarg =
        (large ? q->large_kernargs : q->kernargs) +
        (q->next & (q->packets - 1)) * (uint64_t)(large ? GPU_LARGE_KERNARG_BYTES : GPU_KERNARG_BYTES);
    gpu_write(q->node, kernarg, arguments, bytes);
    struct aql_kernel_dispatch p = {.header = AQL_HEADER_BARRIER,
                                    .dimensions = (uint16_t)(3 | (grid->cooperative ? AQL_DIMENSIONS_COOPERATIVE : 0)),
                                    .group_segment_bytes = grid->lds_bytes,
                                    .kernel_object = object_on(q, &kernel),
                                    .kernarg_address = kernarg,
                                    .chunk = grid->chunk,
                                    .part = grid->first_group | (uint64_t)(grid->chunk ? grid->period : grid->groups)
                                                                    << 32};
    for (unsigned d = 0; d < 3; ++d) {
        p.workgroup_size[d] = grid->group[d] ? grid->group[d] : 1;
        p.grid_size[d] = grid->items[d] ? grid->items[d] : 1;
    }
    uint64_t words[8];
    memcpy(words, &p, sizeof words);
    return gpu_submit(q, words, AQL_TYPE_KERNEL_DISPATCH);
}
