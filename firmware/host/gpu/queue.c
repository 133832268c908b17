/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/kernel_descriptor.h"
#include "host/console.h"
#include "host/gpu/elf.h"
#include "host/gpu/gpu.h"
#include "host/heap.h"
#include "host/machine.h"
#include "host/mmio.h"

enum { KERNARG_SLOT = 256 };

gpu_address gpu_load_image(struct gpu_node* node, const void* elf, uint64_t bytes) {
    struct elf_segment s;
    uint64_t end = 0;
    for (unsigned i = 0; elf_next_segment(elf, bytes, &i, &s);) {
        if (s.address < GPU_CODE_BASE || s.address + s.memory_bytes > GPU_CODE_BASE + (uint64_t)GPU_CODE_SIZE) return 0;
        if (s.address + s.memory_bytes - GPU_CODE_BASE > end) end = s.address + s.memory_bytes - GPU_CODE_BASE;
    }
    if (!end) return 0;
    const gpu_address image = gpu_allocate(node, end, gpu_place_interleaved, NULL);
    for (unsigned i = 0; elf_next_segment(elf, bytes, &i, &s);) gpu_write(node, image + (s.address - GPU_CODE_BASE), s.data, s.file_bytes);
    return image;
}

/* Descriptors begin with a magic number and lie 8-byte aligned in the file's segments. */
struct gpu_kernel gpu_find_kernel(const void* elf, gpu_address image, const char* name) {
    struct elf_segment s;
    for (unsigned i = 0; elf_next_segment(elf, ~0ull, &i, &s);)
        for (uint64_t at = 0; at + sizeof(struct kernel_descriptor) <= s.file_bytes; at += 8) {
            struct kernel_descriptor k;
            memcpy(&k, s.data + at, sizeof k);
            if (k.magic != KERNEL_DESCRIPTOR_MAGIC || k.image_offset != s.address + at - GPU_CODE_BASE) continue;
            if (strncmp(k.name, name, sizeof k.name) == 0) return (struct gpu_kernel){image + k.image_offset, k.kernarg_bytes};
        }
    return (struct gpu_kernel){0, 0};
}

void gpu_create_queue(struct gpu_queue_handle* q, struct gpu_node* node, unsigned gpu, uint32_t packets, bool in_host, unsigned priority) {
    struct gpu* g = &node->gpu[gpu];
    if (g->queues == GPU_QUEUES) panic("gpu%u has no queue left", gpu);
    memset(q, 0, sizeof *q);
    q->node = node;
    q->gpu = g;
    q->index = g->queues++;
    q->packets = packets;
    const uint64_t signal_bytes = packets * sizeof(struct aql_signal);
    struct aql_signal* signals = heap_allocate_aligned((signal_bytes + GPU_PAGE - 1) & ~(uint64_t)(GPU_PAGE - 1), GPU_PAGE);
    if (!signals) panic("no host memory for signals");
    memset(signals, 0, signal_bytes);
    q->signals = signals;
    q->signals_at = gpu_map_host(node, signals, signal_bytes, true);
    if (in_host) {
        const uint64_t ring_bytes = ((uint64_t)packets * 64 + GPU_PAGE - 1) & ~(uint64_t)(GPU_PAGE - 1);
        uint8_t* ring = heap_allocate_aligned(ring_bytes, GPU_PAGE);
        if (!ring) panic("no host memory for a queue");
        q->ring = gpu_map_host(node, ring, ring_bytes, true);
    } else {
        q->ring = gpu_allocate_on(node, gpu, (uint64_t)packets * 64);
    }
    q->kernargs = gpu_allocate_on(node, gpu, (uint64_t)packets * KERNARG_SLOT);
    const uint64_t invalid = AQL_TYPE_INVALID;
    for (uint32_t i = 0; i < packets; ++i) gpu_write(node, q->ring + 64 * i, &invalid, 8);

    const uint64_t scratch_bytes = (uint64_t)g->compute_units * g->wavefront_slots * 64 * GPU_QUEUE_SCRATCH;
    const struct gpu_queue description = {.state = GPU_QUEUE_ACTIVE,
                                          .priority = priority,
                                          .packets = packets,
                                          .ring = q->ring,
                                          .scratch = gpu_allocate_on(node, gpu, scratch_bytes),
                                          .scratch_bytes = scratch_bytes};
    const uintptr_t to = g->registers + GPU_SRAM_WINDOW + GPU_SRAM_QUEUES + q->index * sizeof description;
    uint64_t words[sizeof description / 8];
    memcpy(words, &description, sizeof words);
    for (unsigned i = sizeof words / 8; i-- > 0;) mmio_write64(to + 8 * i, words[i]); /* the state last */
    mmio_write32(g->registers + GPU_HOST_REQUEST, 1);
}

uint64_t gpu_submit(struct gpu_queue_handle* q, const uint64_t packet[8], unsigned type) {
    const uint64_t index = q->next++;
    const uint32_t slot = (uint32_t)(index & (q->packets - 1));
    while (index >= q->packets && q->signals[slot].value > 0) __asm__ volatile("pause"); /* its last user is under way */
    q->signals[slot].kind = 1;
    q->signals[slot].value = 1;
    uint64_t words[8];
    memcpy(words, packet, sizeof words);
    words[7] = q->signals_at + slot * sizeof(struct aql_signal);
    const uint64_t header = type | AQL_FENCE_SYSTEM << AQL_HEADER_ACQUIRE_SHIFT | AQL_FENCE_SYSTEM << AQL_HEADER_RELEASE_SHIFT;
    words[0] = (words[0] & ~(uint64_t)0xffff) | (words[0] & AQL_HEADER_BARRIER) | header;
    gpu_write(q->node, q->ring + slot * 64 + 8, words + 1, 56);
    gpu_write(q->node, q->ring + slot * 64, words, 8);
    __asm__ volatile("fence iorw, o" ::: "memory");
    q->gpu->doorbells[q->index] = index;
    return index;
}

uint64_t gpu_dispatch(struct gpu_queue_handle* q, struct gpu_kernel kernel, const struct gpu_grid* grid, const void* arguments,
                      uint32_t bytes) {
    if (bytes > KERNARG_SLOT) panic("kernel arguments of %u bytes", bytes);
    const uint32_t slot = (uint32_t)(q->next & (q->packets - 1));
    while (q->next >= q->packets && q->signals[slot].value > 0) __asm__ volatile("pause");
    const gpu_address kernarg = q->kernargs + slot * KERNARG_SLOT;
    gpu_write(q->node, kernarg, arguments, bytes);
    struct aql_kernel_dispatch p = {.header = AQL_HEADER_BARRIER,
                                    .dimensions = 3,
                                    .group_segment_bytes = grid->lds_bytes,
                                    .kernel_object = kernel.object,
                                    .kernarg_address = kernarg,
                                    .chunk = grid->chunk,
                                    .part = grid->first_group | (uint64_t)(grid->chunk ? grid->period : grid->groups) << 32};
    for (unsigned d = 0; d < 3; ++d) {
        p.workgroup_size[d] = grid->group[d] ? grid->group[d] : 1;
        p.grid_size[d] = grid->items[d] ? grid->items[d] : 1;
    }
    uint64_t words[8];
    memcpy(words, &p, sizeof words);
    return gpu_submit(q, words, AQL_TYPE_KERNEL_DISPATCH);
}

unsigned gpu_wait(struct gpu_queue_handle* q, uint64_t packet) {
    const volatile struct aql_signal* s = &q->signals[packet & (q->packets - 1)];
    while (s->value > 0) __asm__ volatile("pause");
    __asm__ volatile("fence r, rw" ::: "memory");
    return s->value < 0 ? (unsigned)-s->value : 0;
}

const char* gpu_fault_name(unsigned fault) {
    switch (fault) {
        case GPU_FAULT_NONE: return "none";
        case GPU_FAULT_UNMAPPED: return "unmapped";
        case GPU_FAULT_READ_ONLY: return "read only";
        case GPU_FAULT_NOT_EXECUTABLE: return "not executable";
        case GPU_FAULT_MISALIGNED: return "misaligned";
        case GPU_FAULT_BAD_APERTURE: return "bad aperture";
        case GPU_FAULT_BUS: return "bus error";
        case GPU_FAULT_POISONED: return "poisoned";
        case GPU_FAULT_ILLEGAL: return "illegal instruction";
        case GPU_FAULT_BARRIER: return "barrier";
        case GPU_FAULT_RESOURCES: return "resources";
        case GPU_FAULT_PC: return "wild jump";
        case GPU_FAULT_RUNAWAY: return "runaway";
        case GPU_FAULT_PACKET: return "malformed packet";
        case GPU_FAULT_KERNEL: return "not a kernel";
        case GPU_FAULT_OVERFLOW: return "queue overflow";
        case GPU_FAULT_FIRMWARE: return "firmware trap";
        default: return "?";
    }
}

unsigned gpu_print_faults(struct gpu* g) {
    const uintptr_t log = g->registers + GPU_SRAM_WINDOW + GPU_SRAM_FAULTS;
    const uint32_t written = mmio_read32(log + offsetof(struct gpu_fault_log, written));
    unsigned printed = 0;
    for (; g->faults_seen != written; ++g->faults_seen, ++printed) {
        if (written - g->faults_seen > GPU_FAULT_RECORDS) continue; /* overwritten */
        const uintptr_t at = log + offsetof(struct gpu_fault_log, record) + g->faults_seen % GPU_FAULT_RECORDS * sizeof(struct gpu_fault_record);
        uint64_t words[sizeof(struct gpu_fault_record) / 8];
        for (unsigned i = 0; i < sizeof words / 8; ++i) words[i] = mmio_read64(at + 8 * i);
        struct gpu_fault_record r;
        memcpy(&r, words, sizeof r);
        console_printf("gpu%u fault: %s, queue %u packet %lu, work-group %u,%u,%u, compute unit %u wavefront %u lane %u, pc 0x%lx, address 0x%lx\n",
                       g->index, gpu_fault_name(r.fault), r.queue, r.packet, r.group[0], r.group[1], r.group[2], r.compute_unit, r.wavefront,
                       r.lane, r.pc, r.address);
    }
    return printed;
}
