/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/network_exchange.h"
#include "gpu.h"
#include "network/network.h"

GPU_INLINE void copy(uint32_t* to, const uint32_t* from, uint32_t bytes) {
    for (uint32_t i = (uint32_t)local_id(0); i < bytes / 4; i += EXCHANGE_GROUP) to[i] = from[i];
}

GPU_INLINE uint32_t communicate(const struct network_exchange_arguments* a) {
    struct network n = network_open(a->access);
    uint64_t seen;
    network_put(&n, a->peer, (uint64_t)(uintptr_t)a->out, a->remote, a->bytes);
    const struct network_request last = network_put_data(&n, a->peer, (uint64_t)a->number << 32, a->remote_flag, 8);
    const bool received = network_wait_reached(a->flag, a->number, a->timeout, &seen);
    const uint32_t status = network_wait(&n, last);
    network_close(&n);
    return status ? status : received ? NETWORK_DONE : NETWORK_FAILED;
}

KERNEL(network_exchange, struct network_exchange_arguments) {
    if (args->steps & EXCHANGE_PACK) {
        copy(args->out, args->from, args->bytes);
        fence_release(GPU_SCOPE_SYSTEM);
        barrier();
    }
    if (args->steps & EXCHANGE_COMMUNICATE) {
        if (local_id(0) == 0) {
            const uint32_t status = communicate(args);
            if (status) *args->failed = status;
        }
        barrier();
        fence_acquire(GPU_SCOPE_SYSTEM);
    }
    if (args->steps & EXCHANGE_UNPACK) copy(args->to, args->in, args->bytes);
}
