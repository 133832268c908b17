/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/console.h"
#include "programs/compnet/reducer.h"

enum { PACKETS_A_STEP = 4, ENTRIES_A_STEP = 2, MAX_ROUNDS_IN_FLIGHT = 8 };

/* Rounds that the queue and the send rings hold at a time. */
static unsigned depth(const struct reducer* s) {
    const unsigned steps = collective_steps(s->o->algorithm, s->nodes);
    const unsigned by_packets = STREAM_PACKETS / (steps * PACKETS_A_STEP + 1),
                   by_entries = (1u << BACKEND_LOG_SQ_SIZE) / (steps * ENTRIES_A_STEP);
    const unsigned min = by_packets < by_entries ? by_packets : by_entries;
    return min < MAX_ROUNDS_IN_FLIGHT ? min : MAX_ROUNDS_IN_FLIGHT;
}

static void move(struct reducer* s, const struct reduce_transfer* m) {
    const struct backend* c = &s->backend;
    struct stream* t = &s->stream;
    if (m->step.sends) {
        const unsigned to = m->step.to;
        if (m->bytes_sent)
            stream_put(t, to, c->payload.lanes + m->sent, c->remote[to].payload + m->arrives, (uint32_t)m->bytes_sent);
        stream_put_inline(t, to, c->remote[to].control + reduce_flag(m->step.send_flag), COLLECTIVE_NUMBER(m->number));
        stream_ring(t, to);
    }
    if (m->step.receives) stream_wait_reached(t, c->control.lanes + reduce_flag(m->step.receive_flag), m->number);
    if (m->step.receives && m->step.adds && m->bytes_received) {
        const struct network_combine_arguments a = reduce_combine_arguments(s, m);
        const struct gpu_grid grid = reduce_grid(s);
        stream_launch(t, reduce_combine_kernel(s), &grid, &a, sizeof a, s->o->driver_us);
    }
    if (m->step.sends) stream_wait_completion(t, m->step.to); /* while what was heard is added */
}

void reduce_stream_begin(struct reducer* s) {
    const struct collective_flags nothing = {0};
    rdma_buffer_write(s->backend.node, &s->backend.control, 0, &nothing, sizeof nothing);
    stream_begin(&s->stream, &s->backend, REDUCE_TIMEOUT_NS);
    reduce_combine_kernel(s);
}

bool reduce_stream(struct reducer* s, uint32_t rounds) {
    const struct rdma_buffer time = rdma_buffer_allocate(s->backend.node, 8, true);
    const unsigned max = depth(s), steps = collective_steps(s->o->algorithm, s->nodes);
    uint64_t ends[MAX_ROUNDS_IN_FLIGHT];
    unsigned failed = NETWORK_DONE;
    for (uint32_t round = 0; round < rounds + max && !failed; ++round) {
        if (round >= max) failed = stream_synchronize(&s->stream, ends[round % max]);
        for (unsigned i = 0; i < steps && round < rounds && !failed; ++i) {
            const struct reduce_transfer m = reduce_transfer(s, round, i);
            move(s, &m);
        }
        if (round < rounds && !failed) ends[round % max] = stream_timestamp(&s->stream, time.lanes);
    }
    if (failed) console_printf("reduce: a request failed, status 0x%x\n", failed);
    return !failed;
}
