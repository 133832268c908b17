/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/gpu_rdma/rdma_buffer.h"

#include "lib/heap.h"
#include "lib/machine.h"

enum { BLOCK = GPU_LARGE_PAGE };

/* Device memory comes in large pages, which small takers share. */
static gpu_address allocate_device(struct gpu_node* node, uint64_t bytes) {
    static gpu_address next;
    static uint64_t left;
    if (bytes > BLOCK / 2) return gpu_allocate_contiguous(node, 0, bytes);
    if (bytes > left) {
        next = gpu_allocate_contiguous(node, 0, BLOCK);
        left = BLOCK;
    }
    const gpu_address at = next;
    next += bytes;
    left -= bytes;
    return at;
}

struct rdma_buffer rdma_buffer_allocate(struct gpu_node* node, uint64_t bytes, bool in_gpu) {
    struct rdma_buffer p = {.in_gpu = in_gpu};
    bytes = (bytes + HCA_PAGE - 1) & ~(uint64_t)(HCA_PAGE - 1);
    if (in_gpu) {
        p.lanes = allocate_device(node, bytes); /* fresh memory is zero */
        p.memory = (struct verbs_memory){gpu_host_address(node, p.lanes), gpu_bus_address(node, p.lanes), bytes};
        return p;
    }
    void* at = heap_allocate_aligned(bytes, bytes >= BLOCK ? BLOCK : HCA_PAGE);
    if (!at) panic("no host memory for %lu bytes", bytes);
    memset(at, 0, bytes);
    p.memory = verbs_host_memory(at, bytes);
    p.lanes = gpu_map_host(node, at, bytes, true);
    return p;
}

gpu_address rdma_buffer_map_doorbells(struct gpu_node* node, const struct verbs_uar* uar) {
    return gpu_map_device(node, uar->doorbells_bus, HCA_PAGE);
}

/* Keys name addresses as lanes have them, so that kernels use their own pointers. */
bool rdma_buffer_register(struct verbs_mr* mr, const struct verbs_pd* pd, const struct rdma_buffer* p,
                          unsigned rights) {
    return verbs_register(mr, pd, &p->memory, p->lanes, rights, VERBS_LOG_PAGE);
}

void rdma_buffer_write(struct gpu_node* node, const struct rdma_buffer* p, uint64_t offset, const void* from,
                       uint64_t bytes) {
    if (!p->in_gpu)
        memcpy((void*)(p->memory.at + offset), from, bytes);
    else if (gpu_copy_to(node, p->lanes + offset, from, bytes))
        panic("the GPU's memory cannot be written");
}

void rdma_buffer_read(struct gpu_node* node, void* to, const struct rdma_buffer* p, uint64_t offset, uint64_t bytes) {
    if (!p->in_gpu)
        memcpy(to, (const void*)(p->memory.at + offset), bytes);
    else if (gpu_copy_from(node, to, p->lanes + offset, bytes))
        panic("the GPU's memory cannot be read");
}
