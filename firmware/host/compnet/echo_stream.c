/* SPDX-License-Identifier: Apache-2.0 */
#include "host/compnet/echo.h"
#include "host/compnet/stream.h"

enum { MOST_AT_A_TIME = 8 };

struct talk {
    struct stream* t;
    struct scheme* s;
    const struct network_echo_arguments* a;
};

/* A kernel makes the messages of all work-groups, and then they go. \returns the kernel's packet */
static uint64_t say(const struct talk* k, uint64_t round) {
    const struct network_echo_arguments* a = k->a;
    const struct gpu_grid grid = {.items = {64 * k->s->groups}, .group = {64}};
    const struct network_mark_arguments mark = {a->local, a->pitch, a->bytes, round};
    for (uint64_t g = 0; g < k->s->groups; ++g) {
        const uint64_t local = a->local + 2 * g * a->pitch, remote = a->remote + (2 * g + 1) * a->pitch;
        if (a->in_entry)
            stream_say(k->t, a->peer, remote, round);
        else
            stream_put(k->t, a->peer, local, remote, a->bytes);
    }
    const uint64_t kernel = stream_launch(k->t, gpu_linked_kernel(k->s->node, "network_mark", "network_mark"), &grid,
                                          &mark, sizeof mark, 0);
    stream_ring(k->t, a->peer);
    stream_settle(k->t, a->peer);
    return kernel;
}

static void hear(const struct talk* k, uint64_t round) {
    const struct network_echo_arguments* a = k->a;
    for (uint64_t g = 0; g < k->s->groups; ++g)
        stream_hear_whole(k->t, a->local + (2 * g + 1) * a->pitch + a->bytes - 8, round);
}

/* Rounds that queue and send ring hold at a time, beside the one whose kernel has ended. */
static unsigned depth(const struct scheme* s) {
    const unsigned by_packets = STREAM_PACKETS / (s->groups + 4) - 1,
                   by_entries = (1u << SCHEME_LOG_SENDS) / s->groups - 1;
    const unsigned least = by_packets < by_entries ? by_packets : by_entries;
    return least < MOST_AT_A_TIME ? least : MOST_AT_A_TIME;
}

void echo_stream(struct stream* t, struct scheme* s, const struct network_echo_arguments* a,
                 const struct place* results) {
    const struct talk k = {t, s, a};
    const struct place times = place_take(s->node, 16, true);
    const unsigned most = depth(s);
    uint64_t kernels[MOST_AT_A_TIME], time[2];
    uint32_t failed = NETWORK_DONE, round = 1;
    for (; round <= a->rounds; ++round) {
        if (round > most && (failed = stream_wait(t, kernels[round % most]))) break;
        if (round == a->warm + 1) stream_note_time(t, times.lanes);
        if (!a->begins) hear(&k, round);
        kernels[round % most] = say(&k, round);
        if (a->begins) hear(&k, round);
    }
    const uint64_t end = stream_note_time(t, times.lanes + 8);
    if (!failed) failed = stream_wait(t, end);
    place_read(s->node, time, &times, 0, sizeof time);
    for (unsigned g = 0; g < s->groups; ++g) {
        const struct network_group group = {failed, failed ? 0 : round - 1, time[1] - time[0]};
        place_write(s->node, results, g * sizeof group, &group, sizeof group);
    }
}
