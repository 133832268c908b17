/* SPDX-License-Identifier: Apache-2.0 */
#define KERNEL_STACK 1024
#include "gpu.h"
#include "network.h"
#include "network/collectives.h"

LDS struct network network;
LDS struct collective c;
LDS struct collective_buffers v;
LDS uint64_t barriers, barriers_done; /* nanoseconds: what they took, when they ended */
LDS uint32_t succeeded;

/* One lane's part, before and after all have worked. */
GPU_APART void begin(const struct network_reduce_arguments* a) {
    const unsigned group = (unsigned)group_id(0), groups = (unsigned)group_count(0);
    const uint64_t first = collective_chunk_begin(a->elements, groups, group),
                   end = collective_chunk_begin(a->elements, groups, group + 1);
    network = network_open(a->access + group);
    c = (struct collective){&network, &a->segments, a->flags + group * sizeof(struct collective_flags), a->timeout};
    v = (struct collective_buffers){4 * first, a->staging + 4 * first, a->pitch, end - first};
    const uint64_t start = gpu_time_ns();
    succeeded = 1; /* whether all nodes have come here a few times */
    for (uint32_t i = 1; i <= REDUCE_BARRIERS && succeeded; ++i) succeeded = network_barrier(&c, i);
    barriers_done = gpu_time_ns();
    barriers = barriers_done - start;
}
GPU_APART void end(const struct network_reduce_arguments* a, uint32_t rounds) {
    network_close(&network);
    a->results[group_id(0)] =
        (struct network_reduce_result){rounds < a->rounds, rounds, barriers, gpu_time_ns() - barriers_done};
}

KERNEL(network_reduce, struct network_reduce_arguments) {
    const bool communicates = local_id(0) == 0;
    uint32_t round = 0;
    if (gpu_rarely(communicates)) begin(args);
    barrier();
    while (succeeded && round < args->rounds &&
           network_all_reduce(&c, (enum collective_algorithm)args->algorithm, &v, round))
        ++round;
    if (gpu_rarely(communicates)) end(args, round);
}
