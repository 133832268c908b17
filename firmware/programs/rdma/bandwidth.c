/* SPDX-License-Identifier: Apache-2.0 */
/* Bandwidth as perftest takes it, a request a doorbell, and message rate by what a driver may choose: entries a
 * doorbell, completions, inline data, queue pairs. */
#include "drivers/bootstrap/measure.h"
#include "lib/console.h"
#include "lib/machine.h"
#include "lib/pattern.h"
#include "lib/region.h"
#include "lib/result.h"

enum { WINDOW = 8 << 20, MIN_MESSAGES = 8, SIGNAL_EVERY = 16, POLLED = 16 };
enum { OUT = 0, IN = MEASURED_BYTES, BYTES = 2 * MEASURED_BYTES, FIRST_SEED = 20, SECOND_SEED = 21 };

static struct channel channels[MEASURED_QPS];
static bool wrong;

static unsigned take(struct verbs_cq* cq) {
    struct verbs_completion done[POLLED];
    const unsigned count = verbs_poll(cq, done, POLLED);
    for (unsigned i = 0; i < count; ++i) wrong |= done[i].syndrome != 0;
    return count;
}

/* `count` requests on each of the channels, at most `window` of each under way. \returns cycles until all are complete
 */
static uint64_t push(struct channel* ch, uint64_t qps, const struct verbs_send_request* request, uint64_t count,
                     uint64_t batch, uint64_t signal_every, uint64_t window) {
    struct verbs_send_request s[MEASURED_BATCH];
    uint64_t posted[MEASURED_QPS] = {0}, left = qps * count;
    const uint64_t begin = clock_cycles();
    while (left || ch[0].qp.send_queue.head != ch[0].qp.send_queue.tail) {
        bool moved = false;
        left = 0;
        for (uint64_t p = 0; p < qps; ++p) {
            uint64_t part = count - posted[p] < batch ? count - posted[p] : batch;
            if ((uint16_t)(ch[p].qp.send_queue.head - ch[p].qp.send_queue.tail) + part > window) part = 0;
            for (uint64_t i = 0; i < part; ++i) {
                s[i] = request[p];
                const uint64_t number = posted[p] + i + 1;
                s[i].flags = (request[p].flags & ~(unsigned)VERBS_SIGNALLED) |
                             (number % signal_every == 0 || number == count ? VERBS_SIGNALLED : 0);
            }
            if (part) posted[p] += verbs_post_send(&ch[p].qp, s, (unsigned)part);
            moved = take(&ch[p].send_cq) || part || moved;
            left += count - posted[p];
            if (p) left += (uint16_t)(ch[p].qp.send_queue.head - ch[p].qp.send_queue.tail);
        }
        if (!moved) bootstrap_poll_delay();
    }
    return clock_cycles() - begin;
}

static void post_receives(struct channel* c, uint64_t bytes, uint64_t count) {
    const struct verbs_sge e = {c->memory.at + IN, c->mr.key, (uint32_t)bytes};
    const struct verbs_receive_request r = {0, &e, 1};
    while (count--) verbs_post_receive(&c->qp, &r, 1);
}

static void receive(struct channel* c, uint64_t bytes, uint64_t count) {
    uint64_t posted = count < 1 << MEASURED_LOG_RQ_SIZE ? count : 1 << MEASURED_LOG_RQ_SIZE;
    for (uint64_t got = 0; got < count;) {
        const unsigned now = take(&c->receive_cq);
        const uint64_t more = count - posted < now ? count - posted : now;
        if (!now) bootstrap_poll_delay();
        post_receives(c, bytes, more);
        posted += more;
        got += now;
    }
}

static void one(const struct measure* m, const char* name, enum hca_opcode opcode, uint64_t bytes) {
    struct channel* c = &channels[0];
    const bool first = channel_is_first(c), is_read = opcode == HCA_OP_READ, is_send = opcode == HCA_OP_SEND;
    uint64_t count = WINDOW / bytes < MIN_MESSAGES ? MIN_MESSAGES : WINDOW / bytes, cycles = 0;
    if (count > m->messages) count = m->messages;
    struct verbs_sge e;
    const struct verbs_send_request s =
        channel_request(c, opcode, &e, is_read ? IN : OUT, is_read ? OUT : IN, (uint32_t)bytes);
    pattern_write(channel_at(c, OUT), bytes, first ? FIRST_SEED : SECOND_SEED);
    memset(channel_at(c, IN), 0, (bytes + 7) & ~UINT64_C(7));
    if (is_send && !first)
        post_receives(c, bytes, count < 1 << MEASURED_LOG_RQ_SIZE ? count : 1 << MEASURED_LOG_RQ_SIZE);
    bootstrap_barrier_with(m->bootstrap, m->with);
    if (first)
        cycles = push(c, 1, &s, count, 1, SIGNAL_EVERY, 1 << MEASURED_LOG_SQ_SIZE);
    else if (is_send)
        receive(c, bytes, count);
    bootstrap_barrier_with(m->bootstrap, m->with);
    if (first == is_read) wrong |= !pattern_check(channel_at(c, IN), bytes, first ? SECOND_SEED : FIRST_SEED);
    if (!first) return;
    result_begin("bandwidth");
    result_text("verb", name);
    result_u64("bytes", bytes);
    result_u64("messages", count);
    result_u64("time_ps", clock_picoseconds(cycles));
    result_end();
}

bool measure_bandwidth(const struct measure* m) {
    measured_channel(&channels[0], m, BYTES);
    wrong = false;
    for (uint64_t bytes = m->min; bytes <= m->max; bytes *= 2) {
        one(m, "write", HCA_OP_WRITE, bytes);
        one(m, "send", HCA_OP_SEND, bytes);
        one(m, "read", HCA_OP_READ, bytes);
    }
    channel_close(&channels[0]);
    console_printf("bandwidth  %s\n", wrong ? "FAILED" : "ok");
    return !wrong;
}

bool measure_rate(const struct measure* m) {
    struct verbs_sge e[MEASURED_QPS];
    struct verbs_send_request s[MEASURED_QPS];
    uint64_t cycles = 0;
    wrong = false;
    for (uint64_t p = 0; p < m->qps; ++p) {
        struct channel* c = &channels[p];
        measured_channel(c, m, BYTES);
        s[p] = channel_request(c, HCA_OP_WRITE, &e[p], OUT, IN, (uint32_t)m->size);
        if (m->size <= m->inline_bytes) s[p].flags |= VERBS_INLINE;
        pattern_write(channel_at(c, OUT), m->size, p);
        memset(channel_at(c, IN), 0, (m->size + 7) & ~UINT64_C(7));
    }
    const bool first = channel_is_first(&channels[0]);
    bootstrap_barrier_with(m->bootstrap, m->with);
    if (first) {
        push(channels, m->qps, s, 2 * m->batch * m->signal_every, m->batch, m->signal_every,
             m->window); /* translations are cached then */
        region_begin("rate");
        cycles = push(channels, m->qps, s, m->messages, m->batch, m->signal_every, m->window);
        region_end();
    }
    bootstrap_barrier_with(m->bootstrap, m->with);
    for (uint64_t p = 0; p < m->qps; ++p) {
        if (!first) wrong |= !pattern_check(channel_at(&channels[p], IN), m->size, p);
        channel_close(&channels[p]);
    }
    if (first) {
        result_begin("rate");
        result_u64("messages", m->qps * m->messages);
        result_u64("time_ps", clock_picoseconds(cycles));
        result_u64("bytes", m->size);
        result_u64("batch", m->batch);
        result_u64("signal", m->signal_every);
        result_u64("window", m->window);
        result_u64("qps", m->qps);
        result_end();
    }
    console_printf("rate       %s\n", wrong ? "FAILED" : "ok");
    return !wrong;
}
