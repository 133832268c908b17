/* SPDX-License-Identifier: Apache-2.0 */
/* What the backends of an all-reduce have in common: where the vector's parts lie, and which agent communicates. */
#ifndef FABRICVP_PROGRAMS_COMPNET_REDUCER_H
#define FABRICVP_PROGRAMS_COMPNET_REDUCER_H

#include "gpu/kernels/network.h"
#include "programs/compnet/host_endpoint.h"
#include "programs/compnet/reduce.h"
#include "programs/compnet/stream.h"

enum { REDUCE_TIMEOUT_NS = 500000000 };

struct reducer {
    struct backend backend;
    const struct reduce_options* o;
    struct host_endpoint host_endpoint;
    struct stream stream;
    struct gpu_queue_handle* queue;
    struct rdma_buffer results;
    unsigned rank, nodes;
    uint64_t elements, pitch, staging, flags; /* flags: of work-groups */
    uint32_t completed;                       /* all-reduces so far, of the host */
};

/* A step of an all-reduce between kernels: what is sent to which node, and what is added, as offsets into the payload
 * and bytes. */
struct reduce_transfer {
    struct collective_step step;
    uint32_t number; /* of the step, among all; flags say it */
    uint64_t sent, arrives, bytes_sent;
    uint64_t received, staged, bytes_received;
};
struct reduce_transfer reduce_transfer(const struct reducer* s, uint32_t round, unsigned step);
static inline uint64_t reduce_flag(unsigned flag) { return offsetof(struct collective_flags, arrived[0]) + 8 * flag; }

struct gpu_grid reduce_grid(const struct reducer* s);
/* Adds `other` to `to`. */
struct gpu_kernel reduce_combine_kernel(const struct reducer* s);
struct network_combine_arguments reduce_combine_arguments(const struct reducer* s, const struct reduce_transfer* m);

/* Messages and kernels in turn, all in the GPU's queue. */
void reduce_stream_begin(struct reducer* s);
/* \returns whether all ended well */
bool reduce_stream(struct reducer* s, uint32_t rounds);

#endif
