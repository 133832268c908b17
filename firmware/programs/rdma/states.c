/* SPDX-License-Identifier: Apache-2.0 */
/* What queue pairs tell of their states: the other side has begun while this one is in RTR; a send queue is drained.
 * Each case has a channel of its own, since it brings queue pairs to states that no other case wants. */
#include "lib/timer.h"
#include "programs/rdma/check.h"

enum { DEPTH = 6, MESSAGES = 12, BYTES = AREA / MESSAGES, EVENT_US = 1000, QUIET_US = 20, ID = 300, RECEIVE_ID = 320 };

static struct channel channel;
static volatile uint32_t event_count[32], event_qpn[32];

static void on_event(struct verbs_device* hca, enum hca_event type, uint32_t number, unsigned detail) {
    (void)hca, (void)detail;
    ++event_count[type & 31];
    event_qpn[type & 31] = number;
}

static void expect_event(struct check* c, enum hca_event type, bool comes) {
    struct verbs_device* hca = &c->channel->bootstrap->hca;
    const uint32_t before = event_count[type];
    for (const uint64_t begin = timer_now();
         event_count[type] == before && timer_microseconds(timer_now() - begin) <= (comes ? EVENT_US : QUIET_US);)
        verbs_poll_events(hca);
    check_that(c, event_count[type] == before + comes, comes ? "no event" : "an unexpected event", type);
    check_that(c, !comes || event_qpn[type] == c->channel->qp.number, "the event's queue pair", event_qpn[type]);
}

static void expect_state(struct check* c, unsigned state) {
    uint8_t context[HCA_QPC_SIZE];
    check_that(c, verbs_query_qp(&c->channel->qp, context) && hca_get(context, HCA_QPC_STATE) == state,
               "state of the queue pair", hca_get(context, HCA_QPC_STATE));
}

/* A message from the active side, which the other one receives. */
static void message(struct check* c, unsigned index) {
    struct verbs_sge e;
    struct verbs_completion done = {.syndrome = 0};
    if (c->active) {
        const struct verbs_send_request s = channel_request(c->channel, HCA_OP_SEND, &e, OUT + index, 0, BYTES);
        check_that(c, channel_send(c->channel, &s, &done) == 0, "completion", done.syndrome);
        return;
    }
    const bool came = verbs_wait(&c->channel->receive_cq, &done, BOOTSTRAP_TIMEOUT_US);
    check_that(c, came && done.syndrome == 0 && done.id == RECEIVE_ID + index, "which receive completes", done.id);
}

static void communication(struct check* c) {
    for (unsigned i = 0; !c->active && i < 3; ++i) {
        const struct verbs_sge e = {c->channel->memory.at + IN + BYTES * i, c->channel->mr.key, BYTES};
        const struct verbs_receive_request r = {RECEIVE_ID + i, &e, 1};
        check_that(c, verbs_post_receive(&c->channel->qp, &r, 1) == 1, "posting a receive", i);
        check_expect(c, BYTES * i, i, BYTES, true);
    }
    if (c->active)
        channel_start(c->channel);
    else
        expect_event(c, HCA_EVENT_COMMUNICATION, false);
    check_barrier(c);
    message(c, 0);
    if (!c->active) expect_event(c, HCA_EVENT_COMMUNICATION, true);
    check_barrier(c);
    message(c, 1);
    if (!c->active) {
        expect_event(c, HCA_EVENT_COMMUNICATION, false); /* only of the first one */
        channel_start(c->channel);
    }
    check_barrier(c);
    message(c, 2);
    if (!c->active) expect_event(c, HCA_EVENT_COMMUNICATION, false);
    check_barrier(c);
    check_memory(c, "memory");
}

/* Messages of which all bytes have come; of the others, none may have. */
static unsigned whole_messages(struct check* c) {
    unsigned count = 0;
    while (count < MESSAGES &&
           !memcmp(channel_at(c->channel, IN + BYTES * count), channel_at(c->channel, EXPECTED + BYTES * count), BYTES))
        ++count;
    for (uint64_t i = BYTES * count; i < AREA; ++i)
        if (*channel_at(c->channel, IN + i) != UNTOUCHED) {
            check_that(c, false, "bytes of a message that has not begun", i);
            break;
        }
    return count;
}

static void drain(struct check* c) {
    struct verbs_sge e[MESSAGES];
    struct verbs_send_request s[MESSAGES];
    struct verbs_completion done;
    check_expect(c, 0, 0, BYTES * MESSAGES, true);
    channel_start(c->channel);
    check_barrier(c);
    if (c->active) {
        for (unsigned i = 0; i < MESSAGES; ++i) {
            s[i] = channel_request(c->channel, HCA_OP_WRITE, &e[i], OUT + BYTES * i, IN + BYTES * i, BYTES);
            s[i].id = ID + i;
            if (i + 1 < MESSAGES) s[i].flags = 0;
        }
        check_that(c, verbs_post_send(&c->channel->qp, s, MESSAGES) == MESSAGES, "posting", 0);
        timer_wait(2);
        check_that(c, verbs_modify(&c->channel->qp, HCA_QP_SQD, NULL), "to SQD", c->channel->bootstrap->hca.status);
        expect_event(c, HCA_EVENT_SQ_DRAINED, true);
        expect_state(c, HCA_QP_SQD);
        check_that(c, !verbs_poll(&c->channel->send_cq, &done, 1), "a completion of what has not begun", 0);
    }
    check_barrier(c);
    if (!c->active) {
        const unsigned count = whole_messages(c);
        check_that(c, count > 0 && count < MESSAGES, "messages before the queue was drained", count);
    }
    check_barrier(c);
    if (c->active) {
        check_that(c, verbs_modify(&c->channel->qp, HCA_QP_RTS, NULL), "back to RTS",
                   c->channel->bootstrap->hca.status);
        const bool came = verbs_wait(&c->channel->send_cq, &done, BOOTSTRAP_TIMEOUT_US);
        check_that(c, came && !done.syndrome && done.id == ID + MESSAGES - 1, "completion", done.id);
        memset(channel_at(c->channel, EXPECTED), UNTOUCHED, AREA);
        expect_event(c, HCA_EVENT_SQ_DRAINED, false);
    }
    check_barrier(c);
    check_memory(c, "memory");
}

static const struct check_case communication_case = {"communication", communication}, drain_case = {"draining", drain};

unsigned check_states(struct bootstrap* bootstrap, unsigned with) {
    const struct check_case* const cases[] = {&communication_case, &drain_case};
    unsigned wrong = 0;
    bootstrap->hca.on_event = on_event;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const struct channel_shape shape = {.type = HCA_QP_RC,
                                            .log_sq_size = DEPTH,
                                            .log_rq_size = DEPTH,
                                            .elements = 1,
                                            .bytes = CHANNEL_BYTES,
                                            .held = true};
        bool ok = true;
        for (unsigned round = 0; round < 2; ++round) {
            struct check c = {.channel = &channel, .seed = 200 + 2 * i + round, .ok = true};
            channel_open(&channel, bootstrap, with, &shape);
            c.active = channel_is_first(&channel) == (round == 0);
            check_prepare(&c);
            check_barrier(&c);
            cases[i]->run(&c);
            channel_close(&channel);
            ok = ok && c.ok;
        }
        check_print("QP", cases[i]->name, ok);
        wrong += !ok;
    }
    bootstrap->hca.on_event = NULL;
    return wrong;
}
