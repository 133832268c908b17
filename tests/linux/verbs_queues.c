/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: lists of requests without completions, completion queues that are resized and armed, shared receive queues.
 */
#include "verbs_check.h"

#include <fcntl.h>
#include <poll.h>

enum { STEP = 512 };

/* A list of writes of which only the last is signalled. */
static void check_unsignalled(void) {
    struct ibv_qp* qp[2];
    connect_pair(qp, (struct options){.type = IBV_QPT_RC});
    refill();
    for (unsigned round = 0; round < 10; ++round) {
        struct ibv_send_wr wr[16];
        struct ibv_sge sge[16];
        for (unsigned i = 0; i < 16; ++i) {
            const size_t from = i * STEP + round, to = (40 - i) * STEP;
            sge[i] = (struct ibv_sge){(uintptr_t)ends[0].memory + from, 300 + i, ends[0].mr->lkey};
            wr[i] = (struct ibv_send_wr){.wr_id = i,
                                         .sg_list = &sge[i],
                                         .num_sge = 1,
                                         .opcode = IBV_WR_RDMA_WRITE,
                                         .next = i < 15 ? &wr[i + 1] : NULL};
            wr[i].send_flags = i == 15 ? IBV_SEND_SIGNALED : 0;
            wr[i].wr.rdma.remote_addr = (uintptr_t)ends[1].memory + to;
            wr[i].wr.rdma.rkey = ends[1].mr->rkey;
            expect_copy(&ends[1], to, &ends[0], from, 300 + i);
        }
        post(qp[0], wr);
        const struct ibv_wc wc = completion(&ends[0]);
        good(wc, IBV_WC_RDMA_WRITE);
        require(wc.wr_id == 15, "the last of a list completes");
        compare("a list of writes", 16);
    }
    silence(&ends[0]);
    destroy_pair(qp);
    passed("unsignalled requests");
}

static void send_one(struct ibv_qp* qp, size_t at, unsigned flags, uint64_t id) {
    struct ibv_sge sge = {(uintptr_t)ends[0].memory + at, 32, ends[0].mr->lkey};
    struct ibv_send_wr wr = {
        .wr_id = id, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED | flags};
    post(qp, &wr);
}

/* Completions come in order, whatever becomes of the queue while they wait in it. */
static void check_resize(void) {
    struct ibv_qp* qp[2];
    struct ibv_cq* usual = ends[1].cq;
    ends[1].cq = ibv_create_cq(ends[1].context, 15, NULL, NULL, 0);
    require(ends[1].cq != NULL, "a small completion queue");
    connect_pair(qp, (struct options){.type = IBV_QPT_RC});
    refill();
    uint64_t sent = 0, seen = 0;
    const int sizes[] = {63, 15, 127, 31, 63};
    for (unsigned round = 0; round < 5; ++round) {
        for (unsigned i = 0; i < 13; ++i, ++sent) {
            const size_t from = sent % 16 * 64, to = 32768 + sent % 16 * 64;
            post_receive(qp[1], &ends[1], to, 32, 1000 + sent);
            expect_copy(&ends[1], to, &ends[0], from, 32);
            send_one(qp[0], from, 0, sent);
            good(completion(&ends[0]), IBV_WC_SEND);
            if (i == 5) require(ibv_resize_cq(ends[1].cq, sizes[round]) == 0, "resizing a completion queue");
        }
        while (seen < sent) {
            const struct ibv_wc wc = completion(&ends[1]);
            good(wc, IBV_WC_RECV);
            require(wc.wr_id == 1000 + seen++, "completions keep their order when their queue is resized");
        }
        compare("sends into a queue that is resized", 32);
    }
    silence(&ends[1]);
    destroy_pair(qp);
    require(ibv_destroy_cq(ends[1].cq) == 0, "destroying a completion queue");
    ends[1].cq = usual;
    passed("resizing completion queues");
}

static int readable(int file, int milliseconds) {
    struct pollfd p = {.fd = file, .events = POLLIN};
    return poll(&p, 1, milliseconds) == 1;
}

static void take_event(void) {
    struct ibv_cq* cq;
    void* context;
    require(ibv_get_cq_event(ends[1].channel, &cq, &context) == 0 && cq == ends[1].cq,
            "an event of the completion queue");
    ibv_ack_cq_events(cq, 1);
}

static void check_events(void) {
    struct ibv_qp* qp[2];
    connect_pair(qp, (struct options){.type = IBV_QPT_RC});
    const int file = ends[1].channel->fd;
    for (unsigned round = 0; round < 5; ++round) {
        for (unsigned i = 0; i < 4; ++i) post_receive(qp[1], &ends[1], 0, 64, i);
        /* Armed for any: one event, however many completions. */
        require(ibv_req_notify_cq(ends[1].cq, 0) == 0, "arming");
        for (unsigned i = 0; i < 2; ++i) {
            send_one(qp[0], 0, 0, i);
            good(completion(&ends[0]), IBV_WC_SEND);
        }
        require(readable(file, 1000), "an event comes for a completion");
        take_event();
        require(!readable(file, 2), "one event only");
        for (unsigned i = 0; i < 2; ++i) good(completion(&ends[1]), IBV_WC_RECV);
        /* Armed for solicited ones: not for others. */
        require(ibv_req_notify_cq(ends[1].cq, 1) == 0, "arming for solicited completions");
        send_one(qp[0], 0, 0, 2);
        good(completion(&ends[0]), IBV_WC_SEND);
        require(!readable(file, 2), "no event for what was not solicited");
        send_one(qp[0], 0, IBV_SEND_SOLICITED, 3);
        good(completion(&ends[0]), IBV_WC_SEND);
        require(readable(file, 1000), "an event for what was solicited");
        take_event();
        for (unsigned i = 0; i < 2; ++i) good(completion(&ends[1]), IBV_WC_RECV);
    }
    destroy_pair(qp);
    passed("completion events");
}

/* Its limit raises one event; then it has to be set anew. */
static void check_shared(void) {
    struct ibv_qp* qp[2][2];
    struct ibv_srq_init_attr init = {.attr = {.max_wr = 64, .max_sge = 3}};
    for (unsigned n = 0; n < 2; ++n) {
        ends[n].srq = ibv_create_srq(ends[n].pd, &init);
        require(ends[n].srq != NULL, "a shared receive queue");
    }
    for (unsigned p = 0; p < 2; ++p) connect_pair(qp[p], (struct options){.type = IBV_QPT_RC, .with_srq = 1});
    refill();
    const int file = ends[1].context->async_fd;
    fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK);
    struct ibv_async_event event;
    for (unsigned round = 0; round < 3; ++round) {
        for (unsigned i = 0; i < 32; ++i) post_receive(NULL, &ends[1], i * STEP, 32, i);
        struct ibv_srq_attr limit = {.srq_limit = 20}, now;
        require(ibv_modify_srq(ends[1].srq, &limit, IBV_SRQ_LIMIT) == 0, "setting the limit");
        require(ibv_query_srq(ends[1].srq, &now) == 0 && now.srq_limit == 20, "reading the limit");
        for (unsigned i = 0; i < 32; ++i) {
            const size_t from = 65536 + (round * 32 + i) * 32;
            send_one(qp[i % 2][0], from, 0, i);
            good(completion(&ends[0]), IBV_WC_SEND);
            const struct ibv_wc wc = completion(&ends[1]);
            good(wc, IBV_WC_RECV);
            require(wc.wr_id == i && wc.qp_num == qp[i % 2][1]->qp_num,
                    "entries of a shared queue go out in order, to their queue pairs");
            expect_copy(&ends[1], i * STEP, &ends[0], from, 32);
            /* Nineteen are left when the thirteenth has gone. */
            if (i < 12) require(!readable(file, 0), "no event above the limit");
            if (i == 12) {
                require(readable(file, 1000) && ibv_get_async_event(ends[1].context, &event) == 0,
                        "an event below the limit");
                require(event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED && event.element.srq == ends[1].srq,
                        "it is the shared queue's");
                ibv_ack_async_event(&event);
            }
        }
        require(!readable(file, 2), "one event for a limit");
        require(ibv_query_srq(ends[1].srq, &now) == 0 && now.srq_limit == 0, "the limit is gone");
        compare("sends into a shared queue", 32);
    }
    for (unsigned p = 0; p < 2; ++p) destroy_pair(qp[p]);
    for (unsigned n = 0; n < 2; ++n) {
        require(ibv_destroy_srq(ends[n].srq) == 0, "destroying a shared receive queue");
        ends[n].srq = NULL;
    }
    passed("shared receive queues");
}

void check_queues(void) {
    check_unsignalled();
    check_resize();
    check_events();
    check_shared();
}
