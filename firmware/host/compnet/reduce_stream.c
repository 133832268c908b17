/* SPDX-License-Identifier: Apache-2.0 */
#include "host/compnet/reducer.h"
#include "host/console.h"

enum { PACKETS_A_STEP = 4, ENTRIES_A_STEP = 2, MOST_AT_A_TIME = 8 };

/* Rounds that the queue and the send rings hold at a time. */
static unsigned depth(const struct reducer* s) {
    const unsigned steps = collective_steps(s->o->way, s->nodes);
    const unsigned by_packets = STREAM_PACKETS / (steps * PACKETS_A_STEP + 1),
                   by_entries = (1u << SCHEME_LOG_SENDS) / (steps * ENTRIES_A_STEP);
    const unsigned least = by_packets < by_entries ? by_packets : by_entries;
    return least < MOST_AT_A_TIME ? least : MOST_AT_A_TIME;
}

static void move(struct reducer* s, const struct reduce_move* m) {
    const struct scheme* c = &s->scheme;
    struct stream* t = &s->stream;
    if (m->step.sends) {
        const unsigned to = m->step.to;
        if (m->bytes_sent)
            stream_put(t, to, c->payload.lanes + m->sent, c->remote[to].payload + m->arrives, (uint32_t)m->bytes_sent);
        stream_say(t, to, c->remote[to].control + reduce_flag(m->step.send_flag), COLLECTIVE_NUMBER(m->number));
        stream_ring(t, to);
    }
    if (m->step.takes) stream_hear(t, c->control.lanes + reduce_flag(m->step.take_flag), m->number);
    if (m->step.takes && m->step.adds && m->bytes_taken) {
        const struct network_combine_arguments a = reduce_combine_arguments(s, m);
        const struct gpu_grid grid = reduce_grid(s);
        stream_launch(t, reduce_combine_kernel(s), &grid, &a, sizeof a, s->o->driver_us);
    }
    if (m->step.sends) stream_settle(t, m->step.to); /* while what was heard is added */
}

void reduce_stream_begin(struct reducer* s) {
    const struct collective_flags nothing = {0};
    place_write(s->scheme.node, &s->scheme.control, 0, &nothing, sizeof nothing);
    stream_begin(&s->stream, &s->scheme, REDUCE_PATIENCE_NS);
    reduce_combine_kernel(s);
}

bool reduce_stream(struct reducer* s, uint32_t rounds) {
    const struct place time = place_take(s->scheme.node, 8, true);
    const unsigned most = depth(s), steps = collective_steps(s->o->way, s->nodes);
    uint64_t ends[MOST_AT_A_TIME];
    unsigned failed = NETWORK_DONE;
    for (uint32_t round = 0; round < rounds + most && !failed; ++round) {
        if (round >= most) failed = stream_wait(&s->stream, ends[round % most]);
        for (unsigned i = 0; i < steps && round < rounds && !failed; ++i) {
            const struct reduce_move m = reduce_move(s, round, i);
            move(s, &m);
        }
        if (round < rounds && !failed) ends[round % most] = stream_note_time(&s->stream, time.lanes);
    }
    if (failed) console_printf("reduce: a request failed, status 0x%x\n", failed);
    return !failed;
}
