/* SPDX-License-Identifier: Apache-2.0 */
/* Completion queues that are armed and resized, shared receive queues and their limit. */
#include "lib/console.h"
#include "lib/timer.h"
#include "programs/rdma/check.h"

enum { DEPTH = 6, RECEIVE_ID = 900, STEP = 128, EVENT_US = 1000, QUIET_US = 20 };

static void post_receives(struct check* c, unsigned from, unsigned count) {
    for (unsigned i = from; !c->active && i < from + count; ++i) {
        const struct verbs_sge e = {c->channel->memory.at + IN + STEP * i, c->channel->mr.key, STEP};
        const struct verbs_receive_request r = {RECEIVE_ID + i, &e, 1};
        check_that(c, verbs_post_receive(&c->channel->qp, &r, 1) == 1, "posting a receive", i);
        check_expect(c, STEP * i, i, STEP, true);
    }
}

static void send_from(struct check* c, unsigned from, unsigned count, unsigned flags) {
    for (unsigned i = from; c->active && i < from + count; ++i) {
        struct verbs_sge e;
        struct verbs_completion done;
        struct verbs_send_request s = channel_request(c->channel, HCA_OP_SEND, &e, OUT + i, 0, STEP);
        s.flags |= flags;
        check_that(c, channel_send(c->channel, &s, &done) == 0, "completion", done.syndrome);
    }
}

static void take(struct check* c, unsigned from, unsigned count) {
    for (unsigned i = from; !c->active && i < from + count; ++i) {
        struct verbs_completion done = {.syndrome = 0};
        const bool came = verbs_wait(&c->channel->receive_cq, &done, BOOTSTRAP_TIMEOUT_US);
        check_that(c, came && done.syndrome == 0 && done.id == RECEIVE_ID + i, "which receive completes", done.id);
    }
}

/* ---- events ---- */

static void expect_event(struct check* c, uint32_t before, bool comes) {
    const bool came = verbs_wait_event(&c->channel->receive_cq, before, comes ? EVENT_US : QUIET_US);
    check_that(c, came == comes, comes ? "no event" : "an event that was not requested", before);
}

static void events(struct check* c, enum pci_delivery best) {
    struct verbs_device* hca = &c->channel->bootstrap->hca;
    struct verbs_cq* cq = &c->channel->receive_cq;
    const enum pci_delivery delivery = verbs_use_interrupts(hca, best);
    const uint32_t interrupts = hca->interrupts;
    uint32_t before = cq->events;
    check_that(c, delivery == best, "the way of interrupts", delivery);
    post_receives(c, 0, 5);
    if (!c->active) verbs_arm(cq, false);
    check_barrier(c);
    send_from(c, 0, 1, 0);
    if (!c->active) expect_event(c, before++, true); /* it comes */
    take(c, 0, 1);
    check_barrier(c);
    send_from(c, 1, 1, 0);
    check_barrier(c);
    if (!c->active) {
        expect_event(c, before, false); /* not armed: silent */
        verbs_arm(cq, false);           /* what came meanwhile is told at once */
        expect_event(c, before++, true);
    }
    take(c, 1, 1);
    if (!c->active) verbs_arm(cq, true);
    check_barrier(c);
    send_from(c, 2, 1, 0);
    check_barrier(c);
    if (!c->active) expect_event(c, before, false); /* not solicited */
    check_barrier(c);
    send_from(c, 3, 1, VERBS_SOLICITED);
    if (!c->active) expect_event(c, before++, true);
    take(c, 2, 2);
    send_from(c, 4, 1, 0);
    take(c, 4, 1);
    if (!c->active)
        check_that(c, (hca->interrupts != interrupts) == (best != PCI_POLLED), "interrupts",
                   hca->interrupts - interrupts);
    verbs_use_interrupts(hca, PCI_POLLED);
    check_barrier(c);
    check_memory(c, "memory");
}

static void events_polled(struct check* c) { events(c, PCI_POLLED); }
static void events_intx(struct check* c) { events(c, PCI_INTX); }
static void events_msix(struct check* c) { events(c, PCI_MSIX); }

/* ---- resizing, with completions that were not polled, and others that come later ---- */

static void resize(struct check* c) {
    struct verbs_cq* cq = &c->channel->receive_cq;
    post_receives(c, 0, 20);
    check_barrier(c);
    send_from(c, 0, 10, 0);
    check_barrier(c);
    take(c, 0, 3);
    check_that(c, verbs_resize_cq(cq, 4, NULL), "resizing", c->channel->bootstrap->hca.status);
    send_from(c, 10, 4, 0);
    take(c, 3, 2);
    check_barrier(c);
    check_that(c, verbs_resize_cq(cq, LOG_CQ, NULL), "resizing", c->channel->bootstrap->hca.status);
    send_from(c, 14, 6, 0);
    take(c, 5, 15);
    check_barrier(c);
    check_memory(c, "memory");
}

static const struct check_case cases[] = {{"events, polled", events_polled},
                                          {"events, INTx", events_intx},
                                          {"events, MSI-X", events_msix},
                                          {"resizing", resize}};

/* ---- shared receive queues ---- */

enum { LOG_SRQ = 5, POSTED = 24, LIMIT = 8 };
static struct verbs_srq srq;
static struct channel first, second; /* of one shared receive queue */

static void srq_post(struct check* c, unsigned from, unsigned count) {
    for (unsigned i = from; !c->active && i < from + count; ++i) {
        const struct verbs_sge list[2] = {{first.memory.at + IN + STEP * i, first.mr.key, 32},
                                          {first.memory.at + IN + STEP * i + 32, first.mr.key, STEP - 32}};
        const struct verbs_receive_request r = {RECEIVE_ID + i, list, 2};
        check_that(c, verbs_post_srq(&srq, &r, 1) == 1, "posting a shared receive", i);
        check_expect(c, STEP * i, i, STEP, true);
    }
}

/* WQEs are taken in order, for messages of any queue pair. */
static void srq_turn(struct check* c, unsigned from, unsigned count) {
    for (unsigned i = from; i < from + count; ++i) {
        struct channel* ch = i % 3 ? &first : &second;
        struct verbs_completion done = {.syndrome = 0};
        if (c->active) {
            struct verbs_sge e;
            const struct verbs_send_request s = channel_request(ch, HCA_OP_SEND, &e, 0, 0, STEP);
            e.address = first.memory.at + OUT + i;
            e.key = first.mr.key;
            check_that(c, channel_send(ch, &s, &done) == 0, "completion", done.syndrome);
        } else {
            const bool came = verbs_wait(&ch->receive_cq, &done, BOOTSTRAP_TIMEOUT_US);
            check_that(c,
                       came && done.syndrome == 0 && done.id == RECEIVE_ID + i && done.bytes == STEP &&
                           done.qpn == ch->qp.number,
                       "which receive completes", done.id);
        }
    }
}

static void srq_receives(struct check* c) {
    srq_post(c, 0, POSTED);
    check_barrier(c);
    srq_turn(c, 0, 20);
    srq_post(c, POSTED, 12); /* entries that have come back */
    check_barrier(c);
    srq_turn(c, 20, POSTED + 12 - 20);
    check_barrier(c);
    check_memory(c, "memory");
}

static void srq_limit(struct check* c) {
    struct verbs_device* hca = &c->channel->bootstrap->hca;
    verbs_poll_events(hca);
    const uint32_t before = hca->events[HCA_EVENT_SRQ_LIMIT];
    srq_post(c, 0, POSTED);
    if (!c->active) check_that(c, verbs_arm_srq(&srq, LIMIT), "setting the limit", hca->status);
    check_barrier(c);
    srq_turn(c, 0, POSTED - LIMIT);
    verbs_poll_events(hca);
    check_that(c, hca->events[HCA_EVENT_SRQ_LIMIT] == before, "the limit's event came too early", 0);
    check_barrier(c);
    srq_turn(c, POSTED - LIMIT, LIMIT);
    for (const uint64_t begin = timer_now(); !c->active && hca->events[HCA_EVENT_SRQ_LIMIT] == before;) {
        verbs_poll_events(hca);
        if (timer_microseconds(timer_now() - begin) > EVENT_US) break;
    }
    check_that(c, hca->events[HCA_EVENT_SRQ_LIMIT] == before + !c->active, "the limit's event, once",
               hca->events[HCA_EVENT_SRQ_LIMIT] - before);
    check_barrier(c);
    check_memory(c, "memory");
}

static const struct check_case srq_cases[] = {{"shared receives", srq_receives}, {"limit", srq_limit}};

unsigned check_queues(struct bootstrap* bootstrap, unsigned with) {
    unsigned wrong = 0;
    struct channel_shape shape = {
        .type = HCA_QP_RC, .log_sq_size = DEPTH, .log_rq_size = DEPTH, .elements = 1, .bytes = CHANNEL_BYTES};
    channel_open(&first, bootstrap, with, &shape);
    wrong += check_all(&first, "CQ", cases, sizeof cases / sizeof *cases);
    channel_close(&first);
    if (!verbs_create_srq(&srq, &bootstrap->pd, LOG_SRQ, 2, NULL)) {
        console_printf("SRQ        cannot be made\n");
        return wrong + 1;
    }
    shape.srq = &srq;
    channel_open(&first, bootstrap, with, &shape);
    channel_open(&second, bootstrap, with, &shape);
    wrong += check_all(&first, "SRQ", srq_cases, sizeof srq_cases / sizeof *srq_cases);
    channel_close(&first);
    channel_close(&second);
    verbs_destroy_srq(&srq);
    return wrong;
}
