/* SPDX-License-Identifier: Apache-2.0 */
/* What must not be done: the right syndrome on both sides, queues flushed, events, and not a byte changed. Every case
 * has a queue pair of its own; `wrong request` is the first of three, of which the others are flushed. */
#include "lib/console.h"
#include "lib/timer.h"
#include "programs/rdma/check.h"

enum { DEPTH = 4, RECEIVES = 2, REQUESTS = 3, BYTES = 64, EVENT_US = 1000, UNKNOWN_KEY = 0x00ff3300 };
enum { FIRST_ID = 40, RECEIVE_ID = 80 };

struct error_case {
    const char* name;
    enum hca_opcode opcode;
    unsigned rights;     /* of the other one's queue pair */
    uint32_t lkey, rkey; /* 0: the right one */
    uint64_t beyond;     /* added to the remote address */
    uint32_t bytes;
    unsigned mine;            /* the poster's syndrome */
    unsigned receive;         /* of the other one's first receive */
    enum hca_event event;     /* that the other one gets, or 0 */
    unsigned posted_receives; /* that the other one has posted */
};
enum { ALL = VERBS_ALL_RIGHTS, FLUSHED = HCA_FLUSHED, OUTSIDE = CHANNEL_BYTES - IN };
static const struct error_case cases[] = {
    {"write, wrong key", HCA_OP_WRITE, ALL, 0, UNKNOWN_KEY, 0, BYTES, HCA_REMOTE_ACCESS, FLUSHED,
     HCA_EVENT_ACCESS_VIOLATION, RECEIVES},
    {"write, beyond the end", HCA_OP_WRITE, ALL, 0, 0, OUTSIDE - BYTES + 1, BYTES, HCA_REMOTE_ACCESS, FLUSHED,
     HCA_EVENT_ACCESS_VIOLATION, RECEIVES},
    {"write, no right", HCA_OP_WRITE, ALL & ~VERBS_REMOTE_WRITE, 0, 0, 0, BYTES, HCA_REMOTE_ACCESS, FLUSHED,
     HCA_EVENT_ACCESS_VIOLATION, RECEIVES},
    {"read, no right", HCA_OP_READ, ALL & ~VERBS_REMOTE_READ, 0, 0, 0, BYTES, HCA_REMOTE_ACCESS, FLUSHED,
     HCA_EVENT_ACCESS_VIOLATION, RECEIVES},
    {"read, before the start", HCA_OP_READ, ALL, 0, 0, -(uint64_t)IN - 1, BYTES, HCA_REMOTE_ACCESS, FLUSHED,
     HCA_EVENT_ACCESS_VIOLATION, RECEIVES},
    {"atomic, no right", HCA_OP_FETCH_ADD, ALL & ~VERBS_REMOTE_ATOMIC, 0, 0, 0, 8, HCA_REMOTE_ACCESS, FLUSHED,
     HCA_EVENT_ACCESS_VIOLATION, RECEIVES},
    {"atomic, odd address", HCA_OP_FETCH_ADD, ALL, 0, 0, 4, 8, HCA_REMOTE_INVALID_REQUEST, FLUSHED,
     HCA_EVENT_INVALID_REQUEST, RECEIVES},
    {"send, too long", HCA_OP_SEND, ALL, 0, 0, 0, BYTES + 1, HCA_REMOTE_INVALID_REQUEST, HCA_LOCAL_LENGTH,
     HCA_EVENT_INVALID_REQUEST, RECEIVES},
    {"send, no receive", HCA_OP_SEND, ALL, 0, 0, 0, BYTES, HCA_RNR_RETRIES_EXCEEDED, 0, 0, 0},
    {"write, wrong local key", HCA_OP_WRITE, ALL, UNKNOWN_KEY, 0, 0, BYTES, HCA_LOCAL_PROTECTION, 0, 0, RECEIVES},
    {"send, wrong local key", HCA_OP_SEND, ALL, UNKNOWN_KEY, 0, 0, BYTES, HCA_LOCAL_PROTECTION, 0, 0, RECEIVES},
};

static uint32_t event_qpn[32];
static void on_event(struct verbs_device* hca, enum hca_event type, uint32_t number, unsigned detail) {
    (void)hca, (void)detail;
    event_qpn[type & 31] = number;
}

static void expect_flush(struct check* c, struct verbs_cq* cq, uint64_t first_id, unsigned count,
                         unsigned first_syndrome) {
    for (unsigned i = 0; i < count; ++i) {
        struct verbs_completion done = {.syndrome = 0};
        const unsigned wanted = i ? FLUSHED : first_syndrome;
        check_that(c, verbs_wait(cq, &done, BOOTSTRAP_TIMEOUT_US), "nothing completes", i);
        if (done.syndrome != wanted && c->ok)
            console_printf("           %s instead of %s\n", verbs_syndrome_name(done.syndrome),
                           verbs_syndrome_name(wanted));
        check_that(c, done.syndrome == wanted && done.id == first_id + i, "completion", done.id);
    }
}

static void expect_state(struct check* c, unsigned state) {
    uint8_t context[HCA_QPC_SIZE];
    check_that(c, verbs_query_qp(&c->channel->qp, context) && hca_get(context, HCA_QPC_STATE) == state,
               "state of the queue pair", hca_get(context, HCA_QPC_STATE));
}

static void post(struct check* c, const struct error_case* k) {
    struct verbs_sge e[REQUESTS];
    struct verbs_send_request s[REQUESTS];
    for (unsigned i = 0; i < REQUESTS; ++i) {
        s[i] = channel_request(c->channel, HCA_OP_WRITE, &e[i], OUT + BYTES * i, IN, BYTES);
        s[i].id = FIRST_ID + i;
        s[i].flags = i == 1 ? 0 : VERBS_SIGNALLED; /* an error tells of all */
    }
    s[0].opcode = k->opcode;
    e[0].bytes = k->bytes;
    s[0].remote += k->beyond;
    if (k->lkey) e[0].key = k->lkey;
    if (k->rkey) s[0].rkey = k->rkey;
    check_that(c, verbs_post_send(&c->channel->qp, s, REQUESTS) == REQUESTS, "posting", 0);
    expect_flush(c, &c->channel->send_cq, FIRST_ID, REQUESTS, k->mine);
    expect_state(c, HCA_QP_ERR);
}

static void receive(struct check* c, const struct error_case* k) {
    struct verbs_device* hca = &c->channel->bootstrap->hca;
    for (const uint64_t begin = timer_now(); k->event && event_qpn[k->event] != c->channel->qp.number;) {
        verbs_poll_events(hca);
        if (timer_microseconds(timer_now() - begin) < EVENT_US) continue;
        return check_that(c, false, "no event", k->event);
    }
    if (k->receive) expect_flush(c, &c->channel->receive_cq, RECEIVE_ID, k->posted_receives, k->receive);
    expect_state(c, k->event ? HCA_QP_ERR : HCA_QP_RTS);
}

static void run(struct check* c, const struct error_case* k) {
    check_prepare(c);
    memset(event_qpn, 0, sizeof event_qpn);
    for (unsigned i = 0; !c->active && i < k->posted_receives; ++i) {
        const struct verbs_sge e = {c->channel->memory.at + IN + BYTES * i, c->channel->mr.key, BYTES};
        check_that(c,
                   verbs_post_receive(&c->channel->qp, &(struct verbs_receive_request){RECEIVE_ID + i, &e, 1}, 1) == 1,
                   "posting a receive", i);
    }
    check_barrier(c);
    if (c->active) post(c, k);
    check_barrier(c);
    if (!c->active) receive(c, k);
    check_memory(c, "memory that must not be written");
}

/* The same queue pair once more, from RESET on. */
static void again(struct check* c) {
    struct verbs_sge e;
    struct verbs_completion done;
    check_that(c, verbs_modify(&c->channel->qp, HCA_QP_RESET, NULL), "to RESET", c->channel->bootstrap->hca.status);
    channel_connect(c->channel, VERBS_ALL_RIGHTS);
    check_prepare(c);
    check_expect(c, 5, 1, 3000, true);
    check_barrier(c);
    const struct verbs_send_request s = channel_request(c->channel, HCA_OP_WRITE, &e, OUT + 1, IN + 5, 3000);
    if (c->active) {
        check_that(c, channel_send(c->channel, &s, &done) == 0, "completion after a reset", done.syndrome);
        memset(channel_at(c->channel, EXPECTED), UNTOUCHED, AREA);
    }
    check_barrier(c);
    check_memory(c, "memory after a reset");
}

unsigned check_errors(struct bootstrap* bootstrap, unsigned with) {
    static struct channel channel;
    unsigned wrong = 0;
    bootstrap->hca.on_event = on_event;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const struct channel_shape shape = {.type = HCA_QP_RC,
                                            .log_sq_size = DEPTH,
                                            .log_rq_size = DEPTH,
                                            .elements = 1,
                                            .rights = cases[i].rights,
                                            .bytes = CHANNEL_BYTES,
                                            .fast = true};
        struct check c = {.channel = &channel, .seed = 77 + i, .ok = true};
        channel_open(&channel, bootstrap, with, &shape);
        c.active = channel_is_first(&channel) == (i % 2 == 0);
        run(&c, &cases[i]);
        if (cases[i].posted_receives) again(&c);
        channel_close(&channel);
        check_print("err", cases[i].name, c.ok);
        wrong += !c.ok;
    }
    bootstrap->hca.on_event = NULL;
    return wrong;
}
