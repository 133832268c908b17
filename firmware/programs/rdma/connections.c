/* SPDX-License-Identifier: Apache-2.0 */
/* What RC and UC do: every operation, in sizes around those of packets and pages, at odd addresses. */
#include "programs/rdma/check.h"

enum { INLINE = 188, ELEMENTS = 4, DEPTH = 6, RECEIVE_ID = 500, BURST = 48, SPACING = 24 };

static const struct part {
    uint32_t from, to, bytes;
} parts[] = {{0, 0, 1},
             {3, 70, 2},
             {9, 129, 7},
             {64, 192, 8},
             {100, 257, 255},
             {512, 1024, 256},
             {1001, 2047, 1024},
             {4096, 8192, 2047},
             {8192, 12288, 2048},
             {12000, 16385, 2049},
             {16384, 20480, 4096},
             {30001, 40003, 10000},
             {65536, 65536, 65536},
             {131072, 131073, 60001}};
enum { PARTS = sizeof parts / sizeof *parts };

static uint32_t immediate_of(unsigned i) { return 0x01020304u * (i + 1); }

/* A stretch of the channel's memory in several elements. */
static unsigned split(const struct channel* ch, struct verbs_sge* list, uint64_t from, uint32_t bytes,
                      unsigned segments) {
    unsigned count = 0;
    const uint64_t at = ch->memory.at + from;
    for (uint32_t done = 0; done < bytes || count == 0; ++count) {
        const uint32_t part = count + 1 == segments                 ? bytes - done
                              : bytes / segments + 1 < bytes - done ? bytes / segments + 1
                                                                    : bytes - done;
        list[count] = (struct verbs_sge){at + done, ch->mr.key, part};
        done += part;
    }
    return count;
}

static void post_receive(struct check* c, uint64_t id, uint64_t to, uint32_t bytes, unsigned segments) {
    struct verbs_sge list[ELEMENTS];
    const struct verbs_receive_request r = {id, list, split(c->channel, list, to, bytes, segments)};
    check_that(c, verbs_post_receive(&c->channel->qp, &r, 1) == 1, "posting a receive", id);
}

static void wait_receive(struct check* c, uint64_t id, uint32_t bytes, const uint32_t* immediate) {
    struct verbs_completion got;
    const bool came = verbs_wait(&c->channel->receive_cq, &got, BOOTSTRAP_TIMEOUT_US);
    check_that(c, came, "nothing is received", id);
    if (!came) return;
    check_that(c, got.syndrome == 0 && !got.is_send, "completion of a receive", got.syndrome);
    check_that(c, got.id == id && got.qpn == c->channel->qp.number, "which receive completes", got.id);
    check_that(c, got.bytes == bytes, "bytes received", got.bytes);
    check_that(c, got.has_immediate == (immediate != NULL) && (!immediate || got.immediate == *immediate), "immediate",
               got.immediate);
}

static void perform(struct check* c, struct verbs_send_request* s) {
    struct verbs_completion done = {.syndrome = 0};
    check_that(c, channel_send(c->channel, s, &done) == 0, "completion", done.syndrome);
    check_that(c, done.id == s->id && done.is_send && done.opcode == s->opcode && done.qpn == c->channel->qp.number,
               "what completes", done.id);
    check_that(c, s->opcode != HCA_OP_READ || done.bytes == s->list->bytes, "bytes read", done.bytes);
}

/* An empty message, behind which all others of the queue pair have arrived: UC says nothing of its writes. */
static void all_behind(struct check* c) {
    if (!c->active) return wait_receive(c, 0, 0, NULL);
    struct verbs_send_request s = {.opcode = HCA_OP_SEND, .flags = VERBS_SIGNALLED};
    perform(c, &s);
}

/* ---- RDMA write and read ---- */

static void one_sided(struct check* c, enum hca_opcode opcode, unsigned flags, uint32_t max, unsigned segments) {
    const bool changes_me = (opcode == HCA_OP_READ) == c->active, immediate = opcode == HCA_OP_WRITE_IMMEDIATE;
    if (!c->active) {
        for (unsigned i = 0; i < PARTS; ++i)
            if (immediate && parts[i].bytes <= max) post_receive(c, RECEIVE_ID + i, IN, 0, 1);
        post_receive(c, 0, IN, 0, 1);
    }
    check_barrier(c);
    for (unsigned i = 0; i < PARTS; ++i) {
        const struct part* p = &parts[i];
        const uint32_t received = immediate_of(i);
        if (p->bytes > max) continue;
        if (changes_me) check_expect(c, p->to, p->from, p->bytes, opcode != HCA_OP_READ);
        if (c->active) {
            struct verbs_sge list[ELEMENTS];
            struct verbs_send_request s = channel_request(c->channel, opcode, list, 0,
                                                          opcode == HCA_OP_READ ? OUT + p->from : IN + p->to, p->bytes);
            s.elements =
                split(c->channel, list, opcode == HCA_OP_READ ? IN + p->to : OUT + p->from, p->bytes, segments);
            s.id = 1000 + i;
            s.flags |= flags;
            s.immediate = received;
            if (s.elements == 1 || opcode != HCA_OP_READ)
                perform(c, &s);
            else
                check_that(c, channel_send(c->channel, &s, &(struct verbs_completion){0}) == 0,
                           "a read of several elements", i);
        } else if (immediate) {
            wait_receive(c, RECEIVE_ID + i, p->bytes, &received);
        }
    }
    all_behind(c);
    check_barrier(c);
    check_memory(c, "memory");
}

static void write(struct check* c) { one_sided(c, HCA_OP_WRITE, 0, AREA, 1); }
static void write_elements(struct check* c) { one_sided(c, HCA_OP_WRITE, 0, AREA, ELEMENTS); }
static void write_inline(struct check* c) { one_sided(c, HCA_OP_WRITE, VERBS_INLINE, INLINE, 1); }
static void write_immediate(struct check* c) { one_sided(c, HCA_OP_WRITE_IMMEDIATE, 0, AREA, 2); }
static void read(struct check* c) { one_sided(c, HCA_OP_READ, 0, AREA, 1); }
static void read_elements(struct check* c) { one_sided(c, HCA_OP_READ, 0, AREA, 3); }

/* ---- send and receive ---- */

static void check_sends(struct check* c, enum hca_opcode opcode, unsigned flags, uint32_t max) {
    const bool immediate = opcode == HCA_OP_SEND_IMMEDIATE;
    for (unsigned i = 0; i < PARTS; ++i) {
        if (c->active || parts[i].bytes > max) continue;
        post_receive(c, RECEIVE_ID + i, IN + parts[i].to, parts[i].bytes, 1 + i % ELEMENTS);
        check_expect(c, parts[i].to, parts[i].from, parts[i].bytes, true);
    }
    check_barrier(c);
    for (unsigned i = 0; i < PARTS; ++i) {
        const uint32_t received = immediate_of(i);
        if (parts[i].bytes > max) continue;
        if (c->active) {
            struct verbs_sge list[ELEMENTS];
            struct verbs_send_request s = channel_request(c->channel, opcode, list, 0, 0, 0);
            s.elements =
                split(c->channel, list, OUT + parts[i].from, parts[i].bytes, flags ? 2 : 1 + (i + 1) % ELEMENTS);
            s.id = 2000 + i;
            s.flags |= flags;
            s.immediate = received;
            perform(c, &s);
        } else {
            wait_receive(c, RECEIVE_ID + i, parts[i].bytes, immediate ? &received : NULL);
        }
    }
    check_barrier(c);
    check_memory(c, "memory");
}

static void send(struct check* c) { check_sends(c, HCA_OP_SEND, 0, AREA); }
static void send_inline(struct check* c) { check_sends(c, HCA_OP_SEND, VERBS_INLINE, INLINE); }
static void send_immediate(struct check* c) { check_sends(c, HCA_OP_SEND_IMMEDIATE, 0, AREA); }

/* ---- atomics: operands of which no two bytes are alike ---- */

static void set_word(struct check* c, uint64_t at, uint64_t value) {
    if (c->active) return;
    memcpy(channel_at(c->channel, IN + at), &value, 8);
}
static void expect_word(struct check* c, uint64_t at, uint64_t value) {
    if (!c->active) memcpy(channel_at(c->channel, EXPECTED + at), &value, 8);
}

static void atomic(struct check* c, enum hca_opcode opcode, uint64_t at, uint64_t swap_add, uint64_t compare,
                   uint64_t original) {
    if (!c->active) return;
    struct verbs_sge e;
    struct verbs_completion done;
    struct verbs_send_request s = channel_request(c->channel, opcode, &e, OUT + at, IN + at, 8);
    uint64_t seen;
    s.swap_add = swap_add;
    s.compare = compare;
    check_that(c, channel_send(c->channel, &s, &done) == 0 && done.bytes == 8, "completion of an atomic",
               done.syndrome);
    memcpy(&seen, channel_at(c->channel, OUT + at), 8);
    check_that(c, seen == original, "what an atomic brings", seen);
}

static void atomics(struct check* c) {
    const uint64_t a = 0x0123456789abcdef, b = 0xf1e2d3c4b5a69788, max = ~UINT64_C(0);
    set_word(c, 64, a);
    set_word(c, 4088, b); /* up to the end of a page */
    check_barrier(c);
    atomic(c, HCA_OP_COMPARE_SWAP, 64, b, a, a);
    atomic(c, HCA_OP_COMPARE_SWAP, 64, 0x1111, a, b); /* not equal: it stays */
    atomic(c, HCA_OP_FETCH_ADD, 4088, a, 0, b);
    atomic(c, HCA_OP_FETCH_ADD, 4088, max, 0, a + b);
    atomic(c, HCA_OP_FETCH_ADD, 4088, 0x00000000ffffffff, 0, a + b - 1);
    expect_word(c, 64, b);
    expect_word(c, 4088, a + b - 1 + 0xffffffff);
    check_barrier(c);
    check_memory(c, "memory");
}

/* ---- several requests a doorbell, of which not all tell that they are done ---- */

static void bursts(struct check* c, unsigned flags) {
    struct verbs_sge e[BURST];
    struct verbs_send_request s[BURST];
    struct verbs_completion done[BURST];
    for (unsigned i = 0; i < BURST; ++i) {
        s[i] = channel_request(c->channel, HCA_OP_WRITE, &e[i], OUT + SPACING * i, IN + 16 * i, 8);
        s[i].id = i;
        s[i].flags = flags | (i % 16 == 15 ? VERBS_SIGNALLED : 0);
        if (!c->active) check_expect(c, 16 * i, SPACING * i, 8, true);
    }
    if (!c->active) post_receive(c, 0, IN, 0, 1);
    check_barrier(c);
    if (c->active) {
        check_that(c, verbs_post_send(&c->channel->qp, s, BURST) == BURST, "posting", 0);
        for (unsigned i = 15; i < BURST; i += 16)
            check_that(
                c, verbs_wait(&c->channel->send_cq, done, BOOTSTRAP_TIMEOUT_US) && done->syndrome == 0 && done->id == i,
                "completion", done->id);
        check_that(c, verbs_poll(&c->channel->send_cq, done, BURST) == 0, "a completion that was not requested",
                   done->id);
        check_that(c, verbs_send_space(&c->channel->qp) == 1u << DEPTH, "room", verbs_send_space(&c->channel->qp));
    }
    all_behind(c);
    check_barrier(c);
    check_memory(c, "memory");
}
static void burst(struct check* c) { bursts(c, 0); }
static void burst_inline(struct check* c) { bursts(c, VERBS_INLINE); }

/* A read that waits for a fetch-and-add, which stands behind a write, by one doorbell. */
static void mixed(struct check* c) {
    struct verbs_sge e[3];
    struct verbs_completion done[4];
    uint64_t word, seen;
    pattern_write(&word, 8, seed_of(c, true));
    if (!c->active) memcpy(channel_at(c->channel, EXPECTED), &(uint64_t){word + 5}, 8);
    check_barrier(c);
    if (c->active) {
        struct verbs_send_request s[3] = {channel_request(c->channel, HCA_OP_WRITE, &e[0], OUT, IN, 8),
                                          channel_request(c->channel, HCA_OP_FETCH_ADD, &e[1], OUT + 8, IN, 8),
                                          channel_request(c->channel, HCA_OP_READ, &e[2], OUT + 16, IN, 8)};
        s[1].swap_add = 5;
        s[2].flags |= VERBS_FENCE;
        check_that(c, verbs_post_send(&c->channel->qp, s, 3) == 3, "posting", 0);
        for (unsigned i = 0; i < 3; ++i)
            check_that(c, verbs_wait(&c->channel->send_cq, done, BOOTSTRAP_TIMEOUT_US) && done->opcode == s[i].opcode,
                       "order", i);
        memcpy(&seen, channel_at(c->channel, OUT + 8), 8);
        check_that(c, seen == word, "what was there before the sum", seen);
        memcpy(&seen, channel_at(c->channel, OUT + 16), 8);
        check_that(c, seen == word + 5, "what was read", seen);
    }
    check_barrier(c);
    check_memory(c, "memory");
}

/* A send queue that has failed flushes what comes, until it is brought back to RTS. */
static void failed(struct check* c) {
    struct verbs_qp* qp = &c->channel->qp;
    struct verbs_sge e;
    struct verbs_completion done;
    if (!c->active) {
        check_expect(c, 3, 2, 1000, true);
        post_receive(c, 0, IN, 0, 1);
    }
    check_barrier(c);
    for (unsigned i = 0; c->active && i < 3; ++i) {
        static const unsigned wanted[] = {HCA_LOCAL_PROTECTION, HCA_FLUSHED, 0};
        const struct verbs_send_request s = channel_request(c->channel, HCA_OP_WRITE, &e, OUT + 2, IN + 3, 1000);
        if (i == 0) e.key ^= 1u << 8;
        if (i == 2) check_that(c, verbs_modify(qp, HCA_QP_RTS, NULL), "back to RTS", qp->device->status);
        check_that(c, channel_send(c->channel, &s, &done) == wanted[i], "completion", done.syndrome);
    }
    all_behind(c);
    check_barrier(c);
    check_memory(c, "memory");
}

static const struct check_case cases[] = {{"write", write},
                                          {"write, 4 elements", write_elements},
                                          {"write, inline", write_inline},
                                          {"write with immediate", write_immediate},
                                          {"send", send},
                                          {"send, inline", send_inline},
                                          {"send with immediate", send_immediate},
                                          {"48 writes a doorbell", burst},
                                          {"48 inline writes", burst_inline},
                                          {"read", read},
                                          {"read, 3 elements", read_elements},
                                          {"atomics", atomics},
                                          {"fence", mixed}};
static const struct check_case cases_of_uc[] = {{"failed, back to RTS", failed}};
enum { CASES = sizeof cases / sizeof *cases, CASES_OF_UC = 9 };

unsigned check_connections(struct bootstrap* bootstrap, unsigned with) {
    static struct channel channel;
    unsigned wrong = 0;
    struct channel_shape shape = {.type = HCA_QP_RC,
                                  .log_sq_size = DEPTH,
                                  .log_rq_size = DEPTH,
                                  .elements = ELEMENTS,
                                  .inline_bytes = INLINE,
                                  .bytes = CHANNEL_BYTES};
    channel_open(&channel, bootstrap, with, &shape);
    wrong += check_all(&channel, "RC", cases, CASES);
    channel_close(&channel);
    shape.type = HCA_QP_UC;
    channel_open(&channel, bootstrap, with, &shape);
    wrong += check_all(&channel, "UC", cases, CASES_OF_UC);
    wrong += check_all(&channel, "UC", cases_of_uc, sizeof cases_of_uc / sizeof *cases_of_uc);
    channel_close(&channel);
    return wrong;
}
