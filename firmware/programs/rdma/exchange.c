/* SPDX-License-Identifier: Apache-2.0 */
/* All nodes at once: each writes to all others, reads from all others, and adds to one number of node 0. */
#include "drivers/bootstrap/measure.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/pattern.h"

enum {
    PART = 64 << 10,
    OUT = 0,
    IN = PART,
    BACK = 2 * PART,
    COUNTER = 3 * PART,
    RESULT = COUNTER + 64,
    BYTES = COUNTER + HCA_PAGE,
    ADDITIONS = 8,
    RECEIVE_ID = 5
};

static uint64_t seed_of(unsigned from, unsigned to) { return 1000 * (from + 1) + to; }

/* One write, one read and a message behind them to every rank, before the first completion is polled. */
static bool move_data(struct bootstrap* p, struct channel* channels) {
    struct verbs_completion done;
    bool ok = true;
    for (unsigned i = 0; i < p->comm.size; ++i) {
        struct channel* c = &channels[i];
        struct verbs_sge e[2];
        if (i == p->comm.rank) continue;
        struct verbs_send_request s[3] = {
            channel_request(c, HCA_OP_WRITE, &e[0], OUT, IN, PART),
            channel_request(c, HCA_OP_READ, &e[1], BACK, OUT, PART),
            {.opcode = HCA_OP_SEND_IMMEDIATE, .flags = VERBS_SIGNALLED, .immediate = p->comm.rank}};
        ok = ok && verbs_post_send(&c->qp, s, 3) == 3;
    }
    for (unsigned i = 0; i < p->comm.size; ++i) {
        struct channel* c = &channels[i];
        if (i == p->comm.rank) continue;
        for (unsigned k = 0; k < 3; ++k)
            ok = verbs_wait(&c->send_cq, &done, BOOTSTRAP_TIMEOUT_US) && done.syndrome == 0 && ok;
        ok = verbs_wait(&c->receive_cq, &done, BOOTSTRAP_TIMEOUT_US) && done.syndrome == 0 && done.id == RECEIVE_ID &&
             done.immediate == i && ok;
        ok = pattern_check(channel_at(c, IN), PART, seed_of(i, p->comm.rank)) &&
             pattern_check(channel_at(c, BACK), PART, seed_of(i, p->comm.rank)) && ok;
    }
    return ok;
}

/* Each rank sees the number grow; in the end it is the sum of all. */
static bool add_up(struct bootstrap* p, struct channel* channels, uint64_t* counter) {
    struct channel* c = &channels[0];
    uint64_t before = 0, sum = 0;
    bool ok = true;
    for (unsigned k = 0; p->comm.rank && k < ADDITIONS; ++k) {
        struct verbs_sge e;
        struct verbs_completion done;
        struct verbs_send_request s = channel_request(c, HCA_OP_FETCH_ADD, &e, RESULT, COUNTER, 8);
        s.swap_add = (uint64_t)p->comm.rank << 33 | 1;
        s.remote = counter[0];
        s.rkey = (uint32_t)counter[1];
        ok = channel_send(c, &s, &done) == 0 && ok;
        const uint64_t seen = *(volatile uint64_t*)channel_at(c, RESULT);
        ok = (k == 0 || seen >= before + s.swap_add) && ok;
        before = seen;
    }
    bootstrap_barrier(p);
    for (unsigned i = 1; i < p->comm.size; ++i) sum += ADDITIONS * ((uint64_t)i << 33 | 1);
    return (p->comm.rank || *(volatile uint64_t*)channel_at(&channels[1], COUNTER) == sum) && ok;
}

bool exchange_all(const struct measure* m) {
    struct bootstrap* p = m->bootstrap;
    struct channel* channels = heap_allocate(p->comm.size * sizeof *channels);
    const struct channel_shape shape = {.type = HCA_QP_RC,
                                        .log_sq_size = 3,
                                        .log_rq_size = 3,
                                        .elements = 1,
                                        .bytes = BYTES,
                                        .queues = m->gpu_queues ? gpu_memory : NULL,
                                        .cqs = m->gpu_cqs ? gpu_memory : NULL,
                                        .memory = m->gpu_payload ? gpu_memory : NULL};
    if (!channels) panic("exchange: out of memory");
    uint64_t counter[2] = {0};
    for (unsigned i = 0; i < p->comm.size; ++i) {
        struct channel* c = &channels[i];
        if (i == p->comm.rank) continue;
        channel_open(c, p, i, &shape);
        pattern_write(channel_at(c, OUT), PART, seed_of(p->comm.rank, i));
        memset(channel_at(c, IN), 0, PART);
        memset(channel_at(c, BACK), 0, BYTES - BACK);
        const struct verbs_receive_request r = {RECEIVE_ID, NULL, 0};
        if (verbs_post_receive(&c->qp, &r, 1) != 1) panic("exchange: no room for a receive");
        if (!p->comm.rank && !counter[0]) counter[0] = c->memory.at + COUNTER, counter[1] = c->mr.key;
        uint64_t received[2];
        bootstrap_exchange(p, i, counter, received, sizeof received);
        if (i == 0) memcpy(counter, received, sizeof received);
    }
    bootstrap_barrier(p);
    const bool moved = move_data(p, channels);
    bootstrap_barrier(p);
    const bool added = add_up(p, channels, counter);
    for (unsigned i = 0; i < p->comm.size; ++i)
        if (i != p->comm.rank) channel_close(&channels[i]);
    heap_free(channels);
    console_printf("exchange   %s\nadditions  %s\n", moved ? "ok" : "FAILED", added ? "ok" : "FAILED");
    return moved && added;
}
