/* SPDX-License-Identifier: Apache-2.0 */
/* All GPUs of all nodes in a ring, by node and then by index: member r gives to member r + 1 or r - 1. Within a node
 * that goes over the fabric if it joins all GPUs, else over PCI Express by copy engines; between nodes by RDMA writes
 * from the last GPU of one to the first GPU of the next, or back. The host starts each transfer and waits for it. */
#ifndef FABRICVP_PROGRAMS_DISTRIBUTED_RING_H
#define FABRICVP_PROGRAMS_DISTRIBUTED_RING_H

#include "drivers/bootstrap/bootstrap.h"
#include "drivers/gpu/gpu.h"

enum { RING_MAX_MEMBERS = 256 };
enum ring_direction { RING_UP = 0, RING_DOWN = 1 }; /* to the next member, to the previous one */

struct ring_member {
    struct gpu_node* node; /* of all GPUs, or of this one alone */
    struct gpu_queue_handle compute, copy;
    gpu_address memory; /* of `bytes` of the ring, in one piece */
    struct verbs_mr mr; /* of the GPUs at both ends of the node */
};

struct ring {
    struct bootstrap* bootstrap; /* NULL: one node */
    unsigned node, nodes;
    unsigned gpus, first, size; /* of this node, its first member, members of all nodes */
    bool linked;                /* the fabric joins all GPUs of this node */
    uint64_t bytes;
    struct ring_member member[MAX_GPUS];
    struct ring_neighbour {
        struct channel* channel; /* with two nodes, the same for both */
        uint64_t address;        /* of the memory of the member that is nearest */
        uint32_t rkey;
    } neighbour[2]; /* by direction */
    uint64_t transfers[2];
    bool failed; /* a kernel or a transfer */
};

/* All nodes call it. \param bootstrap NULL: one node \param bytes of memory that each member gets, zeroed. Panics if it
 * cannot be made */
void ring_open(struct ring* ring, struct pci_host* pci, struct bootstrap* bootstrap, uint64_t bytes);

/* What a member gives: offsets in its own memory and in the other one's; bytes 0: nothing. */
struct ring_transfer {
    uint64_t from, to, bytes;
};
typedef struct ring_transfer (*ring_transfers)(const void* context, unsigned member);
/* All members give, and have what they are given when it returns. \param of what a member gives, the same for all
 * callers
 */
void ring_shift(struct ring* ring, enum ring_direction direction, ring_transfers of, const void* context);

/* Starts a kernel on GPU `gpu` of this node, with arguments of its address space. \returns its packet */
uint64_t ring_launch(struct ring* ring, unsigned gpu, const char* kernel, const struct gpu_grid* grid,
                     const void* arguments, uint32_t bytes);
void ring_wait(struct ring* ring, unsigned gpu, uint64_t packet);
/* Loads a kernel for all GPUs, before time counts. */
void ring_load(struct ring* ring, const char* kernel);
/* All nodes have come here. */
void ring_barrier(struct ring* ring);

/* Copies between memory of the host and a member's memory, from `offset` on. */
void ring_write(struct ring* ring, unsigned gpu, uint64_t offset, const void* from, uint64_t bytes);
void ring_read(struct ring* ring, unsigned gpu, void* to, uint64_t offset, uint64_t bytes);

/* Where part `part` of `parts` of `count` things begins. */
static inline uint64_t ring_part(uint64_t count, unsigned parts, unsigned part) { return count * part / parts; }

#endif
