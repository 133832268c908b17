/* SPDX-License-Identifier: Apache-2.0 */
#include "host/compnet/talker.h"

#include "gpu/verbs/verbs.h"
#include "host/machine.h"
#include "host/timer.h"

enum { POLLS_A_LOOK = 1024, WAITS_US = 20000 };

void talker_begin(struct talker* t, struct scheme* s) {
    *t = (struct talker){.scheme = s};
    for (unsigned i = 0; i < s->party->count; ++i) {
        if (!s->peer[i].pair) continue;
        t->to[i].pair = *(const struct rdma_pair*)s->peer[i].pair;
        t->to[i].cq = *(const struct rdma_cq*)s->peer[i].cq;
    }
}

static void collect(struct talker* t, struct talker_way* w) {
    struct rdma_completion c;
    if (!rdma_poll(&w->cq, &w->consumer, &c)) return;
    w->ended = rdma_ended(&w->pair, w->ended, c.offset);
    if (c.syndrome && !t->failed) t->failed = c.syndrome;
}

static struct talker_way* room(struct talker* t, unsigned peer) {
    struct talker_way* w = &t->to[peer];
    while (w->posted - w->ended >= 1u << w->pair.log_sends) collect(t, w);
    return w;
}

void talker_put(struct talker* t, unsigned peer, uint64_t from, uint64_t to, uint32_t bytes) {
    struct talker_way* w = room(t, peer);
    const struct scheme* s = t->scheme;
    const struct rdma_work work = {.opcode = HCA_OP_WRITE,
                                   .signalled = true,
                                   .remote = s->remote[peer].payload + to,
                                   .rkey = s->remote[peer].rkey,
                                   .local = s->payload.lanes + from,
                                   .lkey = s->mr.key,
                                   .bytes = bytes};
    rdma_post(&w->pair, w->posted++, &work);
}

void talker_say(struct talker* t, unsigned peer, uint64_t offset, uint64_t value) {
    struct talker_way* w = room(t, peer);
    const struct rdma_work work = {.opcode = HCA_OP_WRITE,
                                   .signalled = true,
                                   .remote = t->scheme->remote[peer].control + offset,
                                   .rkey = t->scheme->remote[peer].control_rkey,
                                   .bytes = 8};
    const unsigned size = rdma_write_inline(&w->pair, w->posted, &work, value, 0);
    rdma_link(&w->pair, w->posted, work.opcode, false, size);
    rdma_ring(&w->pair, w->posted++, 1, work.opcode, false, size);
}

uint64_t talker_hear(struct talker* t, uint64_t offset, uint32_t number) {
    const volatile uint64_t* at = (const volatile uint64_t*)(t->scheme->control.memory.at + offset);
    const uint64_t begin = timer_now();
    uint64_t seen;
    for (unsigned polls = 1; (int32_t)((uint32_t)((seen = *at) >> 32) - number) < 0; ++polls)
        if (polls % POLLS_A_LOOK == 0 && timer_microseconds(timer_now() - begin) > WAITS_US)
            panic("talker: nothing is heard, in iteration %u", number);
    rdma_acquire();
    return seen;
}

void talker_settle(struct talker* t) {
    for (unsigned i = 0; i < t->scheme->party->count; ++i)
        while (t->to[i].posted != t->to[i].ended && !t->failed) collect(t, &t->to[i]);
}

bool talker_end(struct talker* t) {
    talker_settle(t);
    return !t->failed;
}
