/* SPDX-License-Identifier: Apache-2.0 */
/* Latency as perftest takes it: of writes and sends half of a round trip of two messages, of all else from posting to
 * completion. */
#include "drivers/bootstrap/measure.h"
#include "lib/console.h"
#include "lib/machine.h"
#include "lib/pattern.h"
#include "lib/result.h"

/* POSTED: receives ahead of messages, as perftest has them by the hundred: the adapter has fetched some when one
 * comes. */
enum { WARM = 2, POSTED = 16, OUT = 0, IN = MEASURED_BYTES, BYTES = 2 * MEASURED_BYTES };

static struct channel channel;
static bool wrong;

static bool is_first(void) { return channel_is_first(&channel); }

static void post(const struct verbs_send_request* s) {
    if (verbs_post_send(&channel.qp, s, 1) != 1) panic("latency: a request does not fit");
}
static void wait(struct verbs_cq* cq) {
    struct verbs_completion done;
    while (!verbs_poll(cq, &done, 1)) {
    }
    wrong |= done.syndrome != 0;
}

static void post_receive(uint64_t bytes) {
    const struct verbs_sge e = {channel.memory.at + IN, channel.mr.key, (uint32_t)bytes};
    verbs_post_receive(&channel.qp, &(struct verbs_receive_request){0, &e, 1}, 1);
}

struct task {
    enum hca_opcode opcode;
    uint64_t bytes;
    struct verbs_send_request request;
    struct verbs_sge element;
};

/* A message that the other one returns: each has its number in its last byte, which arrives last. */
static void post_write(struct task* t, uint8_t number) {
    *(volatile uint8_t*)channel_at(&channel, OUT + t->bytes - 1) = number;
    post(&t->request);
    wait(&channel.send_cq);
}
static void await_write(const struct task* t, uint8_t number) {
    const volatile uint8_t* last = channel_at(&channel, IN + t->bytes - 1);
    while (*last != number) {
    }
}
static void post_send(struct task* t, uint8_t number) {
    (void)number;
    post(&t->request);
    wait(&channel.send_cq);
}
static void await_send(const struct task* t, uint8_t number) {
    (void)number;
    wait(&channel.receive_cq);
    post_receive(t->bytes);
}

static uint64_t respond(struct task* t, uint64_t iterations, void (*post)(struct task*, uint8_t),
                        void (*await)(const struct task*, uint8_t)) {
    uint64_t begin = 0;
    for (uint64_t i = 0; i < WARM + iterations; ++i) {
        if (i == WARM) begin = clock_cycles();
        if (is_first())
            post(t, (uint8_t)(i + 1)), await(t, (uint8_t)(i + 1));
        else
            await(t, (uint8_t)(i + 1)), post(t, (uint8_t)(i + 1));
    }
    return clock_picoseconds(clock_cycles() - begin) / (2 * iterations);
}

static uint64_t completed(struct task* t, uint64_t iterations) {
    uint64_t begin = 0;
    for (uint64_t i = 0; i < WARM + iterations; ++i) {
        if (i == WARM) begin = clock_cycles();
        post(&t->request);
        wait(&channel.send_cq);
    }
    return clock_picoseconds(clock_cycles() - begin) / iterations;
}

/* What a message has brought is what the other one has; but for the last byte, which was counted. */
static bool is_correct(const struct task* t, uint64_t seed) {
    return pattern_check(channel_at(&channel, IN), t->bytes - 1, seed);
}

/* \param pong whether the other one returns each message; otherwise it only waits */
static void one(const struct measure* m, const char* name, enum hca_opcode opcode, uint64_t bytes, bool pong) {
    const uint64_t local = 10 + is_first(), remote = 10 + !is_first(),
                   few = bytes >= 64 << 10 ? 4
                         : bytes >= 4096   ? 2
                                           : 1;
    const uint64_t iterations = m->iterations / few ? m->iterations / few : 1;
    struct task t = {.opcode = opcode, .bytes = bytes};
    uint64_t picoseconds = 0;
    const bool is_send = opcode == HCA_OP_SEND, is_read = opcode == HCA_OP_READ, is_write = opcode == HCA_OP_WRITE;
    pattern_write(channel_at(&channel, OUT), (bytes + 7) & ~UINT64_C(7), local);
    memset(channel_at(&channel, IN), 0, (bytes + 7) & ~UINT64_C(7));
    t.request = channel_request(&channel, opcode, &t.element, is_read ? IN : OUT, is_read ? OUT : IN, (uint32_t)bytes);
    if ((is_write || is_send) && bytes <= m->inline_bytes) t.request.flags |= VERBS_INLINE;
    for (uint64_t i = 0; is_send && i < POSTED; ++i) post_receive(bytes);
    bootstrap_barrier_with(m->bootstrap, m->with);
    if (pong)
        picoseconds = respond(&t, iterations, is_send ? post_send : post_write, is_send ? await_send : await_write);
    else if (is_first())
        picoseconds = completed(&t, iterations);
    bootstrap_barrier_with(m->bootstrap, m->with);
    if (pong || (is_read && is_first()) || (is_write && !is_first())) wrong |= !is_correct(&t, remote);
    if (t.element.bytes > 64) t.element.bytes = 64;
    for (uint64_t i = 0; is_send && i < POSTED; ++i) { /* takes back what is no longer used */
        post(&t.request);
        wait(&channel.send_cq);
        wait(&channel.receive_cq);
    }
    bootstrap_barrier_with(m->bootstrap, m->with);
    if (!is_first()) return;
    result_begin("latency");
    result_text("verb", name);
    result_u64("bytes", bytes);
    result_u64("time_ps", picoseconds);
    result_end();
}

bool measure_latency(const struct measure* m) {
    const bool host = !m->gpu_payload; /* the hart looks at the payload only where that is inexpensive */
    measured_channel(&channel, m, BYTES);
    wrong = false;
    for (uint64_t bytes = m->min; bytes <= m->max; bytes *= 2) {
        if (host) one(m, "write", HCA_OP_WRITE, bytes, true);
        if (host) one(m, "send", HCA_OP_SEND, bytes, true);
        one(m, "read", HCA_OP_READ, bytes, false);
        one(m, "write_completion", HCA_OP_WRITE, bytes, false);
    }
    one(m, "fetch_add", HCA_OP_FETCH_ADD, 8, false);
    one(m, "compare_swap", HCA_OP_COMPARE_SWAP, 8, false);
    channel_close(&channel);
    console_printf("latency    %s\n", wrong ? "FAILED" : "ok");
    return !wrong;
}
