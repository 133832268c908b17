/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that lanes, the hart and the RDMA adapter all use: the GPU's or the host's, by choice. */
#ifndef FABRICVP_DRIVERS_GPU_RDMA_RDMA_BUFFER_H
#define FABRICVP_DRIVERS_GPU_RDMA_RDMA_BUFFER_H

#include "drivers/gpu/gpu.h"
#include "drivers/verbs/verbs.h"

struct rdma_buffer {
    struct verbs_memory memory; /* as hart and bus see it */
    gpu_address lanes;          /* as lanes do */
    bool in_gpu;
};

/* Contiguous memory, zeroed, for exclusive use. \param in_gpu in the memory of GPU 0 of the node; otherwise lanes see
 * it uncached */
struct rdma_buffer rdma_buffer_allocate(struct gpu_node* node, uint64_t bytes, bool in_gpu);
/* A page of doorbells as lanes see it. */
gpu_address rdma_buffer_map_doorbells(struct gpu_node* node, const struct verbs_uar* uar);
/* A region for all that it has, whose addresses are those of lanes. */
bool rdma_buffer_register(struct verbs_mr* mr, const struct verbs_pd* pd, const struct rdma_buffer* buffer,
                          unsigned rights);

/* Copies between it and memory of the host. */
void rdma_buffer_write(struct gpu_node* node, const struct rdma_buffer* buffer, uint64_t offset, const void* from,
                       uint64_t bytes);
void rdma_buffer_read(struct gpu_node* node, void* to, const struct rdma_buffer* buffer, uint64_t offset,
                      uint64_t bytes);

#endif
