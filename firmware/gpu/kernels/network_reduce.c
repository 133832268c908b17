/* SPDX-License-Identifier: Apache-2.0 */
#define KERNEL_STACK 1024
#include "gpu.h"
#include "network.h"
#include "network/collectives.h"

LDS uint32_t together;

/* \returns whether all nodes have come here a few times */
GPU_INLINE bool meet(const struct collective* c) {
    for (uint32_t i = 1; i <= REDUCE_BARRIERS; ++i)
        if (!network_barrier(c, i)) return false;
    return true;
}

KERNEL(network_reduce, struct network_reduce_arguments) {
    const unsigned group = (unsigned)group_id(0), groups = (unsigned)group_count(0);
    const uint64_t first = collective_begin(args->elements, groups, group),
                   end = collective_begin(args->elements, groups, group + 1);
    const bool speaks = local_id(0) == 0;
    struct network network;
    if (speaks) network = network_open(args->access + group);
    const struct collective c = {&network, &args->team, args->flags + group * sizeof(struct collective_flags),
                                 args->patience};
    const struct collective_vector v = {4 * first, args->places + 4 * first, args->pitch, end - first};
    const uint64_t begin = gpu_time_ns();
    if (speaks) together = meet(&c);
    barrier();
    const uint64_t met = gpu_time_ns();
    uint32_t round = 0;
    while (together && round < args->rounds && network_all_reduce(&c, (enum collective_way)args->way, &v, round))
        ++round;
    if (!speaks) return;
    network_close(&network);
    args->results[group] = (struct network_reduce_group){round < args->rounds, round, met - begin, gpu_time_ns() - met};
}
