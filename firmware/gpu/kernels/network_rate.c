/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "network.h"
#include "network/network.h"

KERNEL(network_rate, struct network_rate_arguments) {
    if (local_id(0)) return;
    const uint64_t group = group_id(0), step = 2 * args->pitch;
    struct network n = network_open(args->access + group);
    uint64_t at = group * args->messages * step;
    const uint64_t begin = gpu_time_ns();
    for (uint32_t number = 1; number <= args->messages; ++number, at += step) {
        const uint64_t remote = args->remote + at + args->pitch;
        if (args->inline_data)
            network_put_data(&n, args->peer, number, remote, args->bytes);
        else
            network_put(&n, args->peer, args->local + at, remote, args->bytes);
    }
    const uint32_t failed = network_quiet(&n);
    const uint64_t end = gpu_time_ns();
    network_close(&n);
    args->results[group] = (struct network_group_result){failed, args->messages, end - begin};
}
