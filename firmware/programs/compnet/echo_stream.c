/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/compnet/echo.h"
#include "programs/compnet/stream.h"

enum { MAX_ROUNDS_IN_FLIGHT = 8 };

struct echo_context {
    struct stream* t;
    struct backend* s;
    const struct network_echo_arguments* a;
};

/* A kernel makes the messages of all work-groups, and then they go. \returns the kernel's packet */
static uint64_t send_round(const struct echo_context* k, uint64_t round) {
    const struct network_echo_arguments* a = k->a;
    const struct gpu_grid grid = {.items = {64 * k->s->groups}, .group = {64}};
    const struct network_mark_arguments mark = {a->local, a->pitch, a->bytes, round};
    for (uint64_t g = 0; g < k->s->groups; ++g) {
        const uint64_t local = a->local + 2 * g * a->pitch, remote = a->remote + (2 * g + 1) * a->pitch;
        if (a->inline_data)
            stream_put_inline(k->t, a->peer, remote, round);
        else
            stream_put(k->t, a->peer, local, remote, a->bytes);
    }
    const uint64_t kernel = stream_launch(k->t, gpu_linked_kernel(k->s->node, "network_mark", "network_mark"), &grid,
                                          &mark, sizeof mark, 0);
    stream_ring(k->t, a->peer);
    stream_wait_completion(k->t, a->peer);
    return kernel;
}

static void wait_round(const struct echo_context* k, uint64_t round) {
    const struct network_echo_arguments* a = k->a;
    for (uint64_t g = 0; g < k->s->groups; ++g)
        stream_wait_equal(k->t, a->local + (2 * g + 1) * a->pitch + a->bytes - 8, round);
}

/* Rounds that queue and send ring hold at a time, beside the one whose kernel has ended. */
static unsigned depth(const struct backend* s) {
    const unsigned by_packets = STREAM_PACKETS / (s->groups + 4) - 1,
                   by_entries = (1u << BACKEND_LOG_SQ_SIZE) / s->groups - 1;
    const unsigned min = by_packets < by_entries ? by_packets : by_entries;
    return min < MAX_ROUNDS_IN_FLIGHT ? min : MAX_ROUNDS_IN_FLIGHT;
}

void echo_stream(struct stream* t, struct backend* s, const struct network_echo_arguments* a,
                 const struct rdma_buffer* results) {
    const struct echo_context k = {t, s, a};
    const struct rdma_buffer times = rdma_buffer_allocate(s->node, 16, true);
    const unsigned max = depth(s);
    uint64_t kernels[MAX_ROUNDS_IN_FLIGHT], time[2];
    uint32_t failed = NETWORK_DONE, round = 1;
    for (; round <= a->rounds; ++round) {
        if (round > max && (failed = stream_synchronize(t, kernels[round % max]))) break;
        if (round == a->warmup_rounds + 1) stream_timestamp(t, times.lanes);
        if (!a->initiator) wait_round(&k, round);
        kernels[round % max] = send_round(&k, round);
        if (a->initiator) wait_round(&k, round);
    }
    const uint64_t end = stream_timestamp(t, times.lanes + 8);
    if (!failed) failed = stream_synchronize(t, end);
    rdma_buffer_read(s->node, time, &times, 0, sizeof time);
    for (unsigned g = 0; g < s->groups; ++g) {
        const struct network_group_result group = {failed, failed ? 0 : round - 1, time[1] - time[0]};
        rdma_buffer_write(s->node, results, g * sizeof group, &group, sizeof group);
    }
}
