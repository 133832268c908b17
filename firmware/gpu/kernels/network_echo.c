/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "network.h"
#include "network/network.h"

struct echo {
    struct network network;
    const struct network_echo_arguments* args;
    uint64_t local, remote;
    struct network_request last_request;
};

/* The previous message has ended long since: its response has come. */
GPU_INLINE uint32_t send_round(struct echo* e, uint64_t round) {
    const struct network_echo_arguments* a = e->args;
    const uint32_t failed = round == 1 ? NETWORK_DONE : network_wait(&e->network, e->last_request);
    if (failed) return failed;
    if (a->inline_data) {
        e->last_request = network_put_data(&e->network, a->peer, round, e->remote, a->bytes);
    } else {
        *(volatile uint64_t*)(uintptr_t)(e->local + a->bytes - 8) = round;
        e->last_request = network_put(&e->network, a->peer, e->local, e->remote, a->bytes);
    }
    return NETWORK_DONE;
}

/* Why there is no response: the request has failed, or the other side does not reply. */
GPU_INLINE uint32_t failure_status(struct echo* e, uint64_t round) {
    const uint32_t status = e->args->initiator || round > 1 ? network_wait(&e->network, e->last_request) : NETWORK_DONE;
    return status ? status : NETWORK_FAILED;
}

KERNEL(network_echo, struct network_echo_arguments) {
    if (local_id(0)) return;
    const uint64_t group = group_id(0), at = group * 2 * args->pitch;
    struct echo e = {.network = network_open(args->access + group),
                     .args = args,
                     .local = args->local + at,
                     .remote = args->remote + at + args->pitch};
    const void* last = (const void*)(uintptr_t)(args->local + at + args->pitch + args->bytes - 8);
    uint64_t begin = gpu_time_ns();
    uint32_t failed = NETWORK_DONE, round = 1;
    for (; round <= args->rounds; ++round) {
        if (round == args->warmup_rounds + 1) begin = gpu_time_ns();
        if (args->initiator) failed = send_round(&e, round);
        if (!failed && !network_wait_equal(last, round, args->timeout)) failed = failure_status(&e, round);
        if (!failed && !args->initiator) failed = send_round(&e, round);
        if (failed) break;
    }
    const uint64_t end = gpu_time_ns();
    if (!failed) failed = network_wait(&e.network, e.last_request);
    network_close(&e.network);
    args->results[group] = (struct network_group_result){failed, round - 1, end - begin};
}
