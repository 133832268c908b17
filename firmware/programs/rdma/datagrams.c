/* SPDX-License-Identifier: Apache-2.0 */
/* UD: datagrams of all sizes up to the MTU, with the room that receives keep for a global route header. */
#include "programs/rdma/check.h"

enum { DEPTH = 4, RECEIVE_ID = 700, STEP = 8192 };
static const uint32_t sizes[] = {0, 1, 7, 64, 255, 256, 1000, 2048, 4096};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void datagrams(struct check* c, bool immediate, unsigned flags) {
    struct channel* ch = c->channel;
    const uint32_t max = flags & VERBS_INLINE ? 64 : 1u << ch->bootstrap->log_mtu;
    struct verbs_sge list[2];
    struct verbs_completion done = {.syndrome = 0};
    for (unsigned i = 0; i < SIZES; ++i) {
        if (c->active || sizes[i] > max) continue;
        list[0] = (struct verbs_sge){ch->memory.at + IN + STEP * i + STEP - 64, ch->mr.key, HCA_GRH_BYTES};
        list[1] = (struct verbs_sge){ch->memory.at + IN + STEP * i + 3, ch->mr.key, sizes[i]};
        const struct verbs_receive_request r = {RECEIVE_ID + i, list, sizes[i] ? 2 : 1};
        check_that(c, verbs_post_receive(&ch->qp, &r, 1) == 1, "posting a receive", i);
        check_expect(c, STEP * i + 3, 5 * i, sizes[i], true);
    }
    check_barrier(c);
    for (unsigned i = 0; i < SIZES; ++i) {
        if (sizes[i] > max) continue;
        const uint32_t received = 0xa1b2c3d4 - i;
        if (c->active) {
            struct verbs_send_request s =
                channel_request(ch, immediate ? HCA_OP_SEND_IMMEDIATE : HCA_OP_SEND, list, OUT + 5 * i, 0, sizes[i]);
            s.flags |= flags;
            s.immediate = received;
            check_that(c, channel_send(ch, &s, &done) == 0, "completion", done.syndrome);
            continue;
        }
        const bool came = verbs_wait(&ch->receive_cq, &done, BOOTSTRAP_TIMEOUT_US);
        check_that(c, came && done.syndrome == 0, "completion of a receive", done.syndrome);
        check_that(c, done.id == RECEIVE_ID + i && done.bytes == HCA_GRH_BYTES + sizes[i] && !done.has_grh,
                   "what is received", done.bytes);
        check_that(c, done.source_qpn == ch->remote.qpn && done.source_lid == ch->with + 1, "who has sent it",
                   done.source_qpn);
        check_that(c, done.has_immediate == immediate && (!immediate || done.immediate == received), "immediate",
                   done.immediate);
    }
    check_barrier(c);
    check_memory(c, "memory");
}

static void send(struct check* c) { datagrams(c, false, 0); }
static void send_immediate(struct check* c) { datagrams(c, true, 0); }
static void send_inline(struct check* c) { datagrams(c, false, VERBS_INLINE); }

static const struct check_case cases[] = {
    {"send", send}, {"send with immediate", send_immediate}, {"send, inline", send_inline}};

unsigned check_datagrams(struct bootstrap* bootstrap, unsigned with) {
    static struct channel channel;
    const struct channel_shape shape = {.type = HCA_QP_UD,
                                        .log_sq_size = DEPTH,
                                        .log_rq_size = DEPTH,
                                        .elements = 2,
                                        .inline_bytes = 64,
                                        .bytes = CHANNEL_BYTES};
    channel_open(&channel, bootstrap, with, &shape);
    const unsigned wrong = check_all(&channel, "UD", cases, sizeof cases / sizeof *cases);
    channel_close(&channel);
    return wrong;
}
