/* SPDX-License-Identifier: Apache-2.0 */
#define KERNEL_STACK 1024
#include "gpu.h"
#include "network.h"
#include "network/collectives.h"

LDS uint32_t succeeded;

/* \returns whether all nodes have come here a few times */
GPU_INLINE bool run_barriers(const struct collective* c) {
    for (uint32_t i = 1; i <= REDUCE_BARRIERS; ++i)
        if (!network_barrier(c, i)) return false;
    return true;
}

KERNEL(network_reduce, struct network_reduce_arguments) {
    const unsigned group = (unsigned)group_id(0), groups = (unsigned)group_count(0);
    const uint64_t first = collective_chunk_begin(args->elements, groups, group),
                   end = collective_chunk_begin(args->elements, groups, group + 1);
    const bool communicates = local_id(0) == 0;
    struct network network;
    if (communicates) network = network_open(args->access + group);
    const struct collective c = {&network, &args->segments, args->flags + group * sizeof(struct collective_flags),
                                 args->timeout};
    const struct collective_buffers v = {4 * first, args->staging + 4 * first, args->pitch, end - first};
    const uint64_t begin = gpu_time_ns();
    if (communicates) succeeded = run_barriers(&c);
    barrier();
    const uint64_t barriers_done = gpu_time_ns();
    uint32_t round = 0;
    while (succeeded && round < args->rounds &&
           network_all_reduce(&c, (enum collective_algorithm)args->algorithm, &v, round))
        ++round;
    if (!communicates) return;
    network_close(&network);
    args->results[group] = (struct network_reduce_result){round < args->rounds, round, barriers_done - begin,
                                                          gpu_time_ns() - barriers_done};
}
