/* SPDX-License-Identifier: Apache-2.0 */
/* Architected queuing language: the packets of user-mode queues and the signals they decrement (HSA platform system
 * architecture specification 1.2, 2.8 and 2.9). All little-endian; packets are 64 bytes. Plain C99. */
#ifndef FABRICVP_ABI_AQL_H
#define FABRICVP_ABI_AQL_H

#include <stdint.h>

/* Header, the first 16 bits of a packet. A packet belongs to the command processor once its type is not INVALID. */
enum {
    AQL_TYPE_VENDOR = 0,
    AQL_TYPE_INVALID = 1,
    AQL_TYPE_KERNEL_DISPATCH = 2,
    AQL_TYPE_BARRIER_AND = 3,
    AQL_TYPE_AGENT_DISPATCH = 4,
    AQL_TYPE_BARRIER_OR = 5,

    AQL_HEADER_TYPE_MASK = 0xff,
    AQL_HEADER_BARRIER = 1 << 8, /* starts only when all packets before it have completed */
    AQL_HEADER_ACQUIRE_SHIFT = 9,
    AQL_HEADER_RELEASE_SHIFT = 11,
    AQL_FENCE_NONE = 0,
    AQL_FENCE_AGENT = 1,
    AQL_FENCE_SYSTEM = 2,

    AQL_DIMENSIONS_MASK = 3,
    AQL_DIMENSIONS_COOPERATIVE = 1 << 2
};

struct aql_kernel_dispatch {
    uint16_t header;
    uint16_t dimensions; /* bits 1…0: 1, 2 or 3. Bit 2, of this platform: a cooperative launch, as KERNEL_COOPERATIVE */
    uint16_t workgroup_size[3];
    uint16_t chunk;                 /* of this platform: see part */
    uint32_t grid_size[3];          /* work-items */
    uint32_t private_segment_bytes; /* scratch a work-item */
    uint32_t group_segment_bytes;   /* LDS a work-group, static and dynamic */
    uint64_t kernel_object;         /* global virtual address of a struct kernel_descriptor */
    uint64_t kernarg_address;       /* global virtual address */
    /* Of this platform, where a grid is spread over GPUs; 0: the whole grid. Bits 31…0: the first work-group of this
     * part. chunk 0: bits 63…32 say how many follow each other. Else `chunk` of every (bits 63…32) work-groups, to the
     * grid's end. */
    uint64_t part;
    uint64_t completion_signal; /* address of a struct aql_signal; 0: none */
};

struct aql_barrier {
    uint16_t header;
    uint16_t reserved0;
    uint32_t reserved1;
    uint64_t dependency[5]; /* signals; 0: none. AND: all are 0. OR: one is */
    uint64_t reserved2;
    uint64_t completion_signal;
};

/* A vendor packet of this platform; abi/stream_packet.h has more. */
enum {
    AQL_VENDOR_TIMESTAMP = 1,     /* argument[0]: where to write the time in ns (8 bytes) */
    AQL_VENDOR_COPY = 2,          /* argument[0] to argument[1], argument[2] bytes, by the command processor itself */
    AQL_VENDOR_INVALIDATE_TLB = 3 /* of the queue's address space */
};
struct aql_vendor {
    uint16_t header;
    uint16_t operation;
    uint32_t reserved0;
    uint64_t argument[6];
    uint64_t completion_signal;
};

/* A signal, 64-byte aligned: decremented with AtomicOps or at the L2, wherever it lies. `value` stands where runtimes
 * of AMD's devices have it. */
struct aql_signal {
    int64_t kind; /* 1: user signal */
    int64_t value;
    uint64_t event_mailbox;
    uint32_t event_id; /* not 0: raise MSI-X vector GPU_VECTOR_SIGNAL when it has been decremented */
    uint32_t reserved0;
    uint64_t start_ns; /* of the dispatch, written by the command processor */
    uint64_t end_ns;
    uint64_t reserved1[2];
};

#endif
