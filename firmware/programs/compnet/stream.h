/* SPDX-License-Identifier: Apache-2.0 */
/* Messages at the boundaries of kernels that the GPU's queue sends and hears by itself (GPUDirect Async): the program
 * writes work queue entries beforehand, and packets that ring for them, wait for words and for completions. Send rings
 * lie in the host's memory; records, completions and flags in the GPU's. */
#ifndef FABRICVP_PROGRAMS_COMPNET_STREAM_H
#define FABRICVP_PROGRAMS_COMPNET_STREAM_H

#include "programs/compnet/backend.h"

struct stream {
    struct backend* backend;
    struct gpu_queue_handle queue;
    uint64_t timeout; /* nanoseconds */
    struct stream_peer {
        struct rdma_qp qp; /* its send ring as this hart reaches it, all else as the command processor does */
        struct rdma_cq cq;
        uint64_t record;                       /* what its doorbell record says beside the number of entries */
        uint32_t written, announced, consumer; /* entries; completions that packets wait for */
        unsigned opcode, size;                 /* of the first that was not rung for */
    } to[NETWORK_MAX_PEERS];
};
enum { STREAM_PACKETS = 256 };

void stream_begin(struct stream* stream, struct backend* backend, uint64_t timeout);
/* Entries for a peer: bytes from anywhere in the GPU's memory of the payload's region; 8 bytes that are known now. */
void stream_put(struct stream* stream, unsigned peer, uint64_t local, uint64_t remote, uint32_t bytes);
void stream_put_inline(struct stream* stream, unsigned peer, uint64_t remote, uint64_t value);

/* Packets, each after all that was submitted before. No more than STREAM_PACKETS, and no more entries for a peer than
 * its send ring has, may be there at once: stream_synchronize() for older ones. */

/* The doorbell of what was written for a peer. */
void stream_ring(struct stream* stream, unsigned peer);
/* Waits until 8 bytes of the GPU's memory have an upper half of `number` or more; or are `number`. */
void stream_wait_reached(struct stream* stream, uint64_t at, uint32_t number);
void stream_wait_equal(struct stream* stream, uint64_t at, uint64_t number);
/* Waits for the completion of the oldest doorbell of a peer that was not waited for. */
void stream_wait_completion(struct stream* stream, unsigned peer);
/* Zeros to 24 bytes. */
void stream_clear(struct stream* stream, uint64_t at);
/* The time, to 8 bytes. \returns the packet's number */
uint64_t stream_timestamp(struct stream* stream, uint64_t at);
/* \param driver_us that a driver takes for it \returns the packet's number, for stream_synchronize() */
uint64_t stream_launch(struct stream* stream, struct gpu_kernel kernel, const struct gpu_grid* grid,
                       const void* arguments, uint32_t bytes, uint64_t driver_us);

/* Waits until a packet, and with it all before, has ended. \returns NETWORK_DONE, or NETWORK_FAILED | enum hca_syndrome
 */
unsigned stream_synchronize(struct stream* stream, uint64_t packet);

#endif
