/* SPDX-License-Identifier: Apache-2.0 */
/* All harts at once, each with a queue pair and completion queues of its own: doorbells of one page, adapter and link
 * are shared, and no hart holds a lock. Both nodes post and are written to. */
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/timer.h"
#include "programs/rdma/check.h"

enum {
    MAX_WORKERS = 4,
    DEPTH = 6,
    ROUNDS = 32,
    BATCH = 8,
    MESSAGES = ROUNDS * BATCH,
    STEP = 128,
    INLINE = 64,
    SPACING = 13,
    ID = 1000
};

static struct worker {
    struct channel channel;
    struct check check;
    uint64_t began, retired;
} workers[MAX_WORKERS];

static uint32_t bytes_of(unsigned i) { return 1 + i * 7 % STEP; }

/* A batch at a time, of which the last is signalled; some of them inline. */
static void work(void* nothing) {
    (void)nothing;
    if (hart_id() >= MAX_WORKERS) return;
    struct worker* w = &workers[hart_id()];
    w->began = timer_now();
    for (unsigned first = 0; first < MESSAGES; first += BATCH) {
        struct verbs_sge e[BATCH];
        struct verbs_send_request s[BATCH];
        struct verbs_completion done = {.syndrome = 0};
        for (unsigned i = 0; i < BATCH; ++i) {
            const unsigned n = first + i;
            s[i] = channel_request(&w->channel, HCA_OP_WRITE, &e[i], OUT + SPACING * n, IN + STEP * n, bytes_of(n));
            s[i].id = ID + n;
            s[i].flags =
                (i + 1 == BATCH ? VERBS_SIGNALLED : 0) | (n % 3 == 0 && bytes_of(n) <= INLINE ? VERBS_INLINE : 0);
        }
        check_that(&w->check, verbs_post_send(&w->channel.qp, s, BATCH) == BATCH, "posting", first);
        const bool came = verbs_wait(&w->channel.send_cq, &done, BOOTSTRAP_TIMEOUT_US);
        check_that(&w->check,
                   came && !done.syndrome && done.id == ID + first + BATCH - 1 && done.qpn == w->channel.qp.number,
                   "completion", done.id);
        if (!came) break;
    }
    w->retired = timer_now();
}

/* With every other one: all have begun before any has ended. */
static bool overlapped(unsigned harts) {
    uint64_t last_begin = 0, first_end = UINT64_MAX;
    for (unsigned i = 0; i < harts; ++i) {
        if (workers[i].began > last_begin) last_begin = workers[i].began;
        if (workers[i].retired < first_end) first_end = workers[i].retired;
    }
    return last_begin < first_end;
}

unsigned check_parallel(struct bootstrap* bootstrap, unsigned with) {
    const unsigned harts = machine.harts < MAX_WORKERS ? machine.harts : MAX_WORKERS;
    bool ok = true;
    for (unsigned i = 0; i < harts; ++i) {
        const struct channel_shape shape = {.type = HCA_QP_RC,
                                            .log_sq_size = DEPTH,
                                            .log_rq_size = DEPTH,
                                            .elements = 1,
                                            .inline_bytes = INLINE,
                                            .bytes = CHANNEL_BYTES};
        struct worker* w = &workers[i];
        channel_open(&w->channel, bootstrap, with, &shape);
        w->check = (struct check){
            .channel = &w->channel, .active = channel_is_first(&w->channel), .seed = 300 + i, .ok = true};
        check_prepare(&w->check);
        for (unsigned n = 0; n < MESSAGES; ++n)
            check_expect(&w->check, STEP * n, SPACING * n, bytes_of(n), !w->check.active);
    }
    bootstrap_barrier_with(bootstrap, with);
    harts_run(work, NULL);
    bootstrap_barrier_with(bootstrap, with);
    check_that(&workers[0].check, overlapped(harts), "harts have posted one after the other", harts);
    for (unsigned i = 0; i < harts; ++i) {
        check_memory(&workers[i].check, "memory");
        ok = ok && workers[i].check.ok;
    }
    for (unsigned i = 0; i < harts; ++i) channel_close(&workers[i].channel);
    check_print("QP", "all harts at once", ok);
    return !ok;
}
