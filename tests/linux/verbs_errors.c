/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that must fail: with the right status, the rest flushed, and not a byte changed. */
#include "verbs_check.h"

#include <fcntl.h>
#include <poll.h>

struct mistake {
    const char* what;
    enum ibv_wr_opcode opcode;
    uint32_t bytes;
    int wrong_lkey, wrong_rkey, beyond_local, odd;
    uint64_t beyond_remote;         /* bytes behind the start of the peer's memory */
    size_t receive;                 /* room at the peer; 0: no receive request */
    enum ibv_wc_status here, there; /* there: IBV_WC_SUCCESS for none */
    int event;                      /* that the peer's queue pair raises; -1: none */
};

static const struct mistake mistakes[] = {
    {.what = "a write with a wrong key",
     .opcode = IBV_WR_RDMA_WRITE,
     .bytes = 100,
     .wrong_rkey = 1,
     .here = IBV_WC_REM_ACCESS_ERR,
     .event = IBV_EVENT_QP_ACCESS_ERR},
    {.what = "a read with a wrong key",
     .opcode = IBV_WR_RDMA_READ,
     .bytes = 100,
     .wrong_rkey = 1,
     .here = IBV_WC_REM_ACCESS_ERR,
     .event = IBV_EVENT_QP_ACCESS_ERR},
    {.what = "a write beyond memory",
     .opcode = IBV_WR_RDMA_WRITE,
     .bytes = 5000,
     .beyond_remote = MEMORY - 4999,
     .here = IBV_WC_REM_ACCESS_ERR,
     .event = IBV_EVENT_QP_ACCESS_ERR},
    {.what = "a read beyond memory",
     .opcode = IBV_WR_RDMA_READ,
     .bytes = 5000,
     .beyond_remote = MEMORY - 4999,
     .here = IBV_WC_REM_ACCESS_ERR,
     .event = IBV_EVENT_QP_ACCESS_ERR},
    {.what = "a write from a wrong key",
     .opcode = IBV_WR_RDMA_WRITE,
     .bytes = 100,
     .wrong_lkey = 1,
     .here = IBV_WC_LOC_PROT_ERR,
     .event = -1},
    {.what = "a send from beyond memory",
     .opcode = IBV_WR_SEND,
     .bytes = 100,
     .beyond_local = 1,
     .receive = 200,
     .here = IBV_WC_LOC_PROT_ERR,
     .event = -1},
    {.what = "a read to a wrong key",
     .opcode = IBV_WR_RDMA_READ,
     .bytes = 100,
     .wrong_lkey = 1,
     .here = IBV_WC_LOC_PROT_ERR,
     .event = -1},
    {.what = "a send that is too long",
     .opcode = IBV_WR_SEND,
     .bytes = 3000,
     .receive = 2999,
     .here = IBV_WC_REM_INV_REQ_ERR,
     .there = IBV_WC_LOC_LEN_ERR,
     .event = IBV_EVENT_QP_REQ_ERR},
    {.what = "an atomic at an odd address",
     .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
     .bytes = 8,
     .odd = 1,
     .here = IBV_WC_REM_INV_REQ_ERR,
     .event = IBV_EVENT_QP_REQ_ERR},
    {.what = "an atomic with a wrong key",
     .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
     .bytes = 8,
     .wrong_rkey = 1,
     .here = IBV_WC_REM_ACCESS_ERR,
     .event = IBV_EVENT_QP_ACCESS_ERR},
};

static enum ibv_qp_state state_of(struct ibv_qp* qp) {
    struct ibv_qp_attr a;
    struct ibv_qp_init_attr init;
    require(ibv_query_qp(qp, &a, IBV_QP_STATE, &init) == 0, "asking for a queue pair's state");
    return a.qp_state;
}

static void expect_event(const struct ibv_qp* qp, int type) {
    struct ibv_async_event event;
    struct pollfd p = {.fd = ends[1].context->async_fd, .events = POLLIN};
    if (type < 0) return require(poll(&p, 1, 2) == 0, "no event where nothing was asked of the peer");
    require(poll(&p, 1, 1000) == 1 && ibv_get_async_event(ends[1].context, &event) == 0, "an event at the peer");
    if ((int)event.event_type != type || event.element.qp != qp)
        fail("the peer's event is %s", ibv_event_type_str(event.event_type));
    ibv_ack_async_event(&event);
    ++checks;
}

static void make(const struct mistake* m) {
    struct ibv_qp* qp[2];
    struct end *a = &ends[0], *b = &ends[1];
    connect_pair(qp, (struct options){.type = IBV_QPT_RC});
    refill();
    struct ibv_sge sge = {(uintptr_t)a->memory + (m->beyond_local ? MEMORY - 50 : 128), m->bytes,
                          a->mr->lkey + (m->wrong_lkey ? 0x100 : 0)};
    struct ibv_send_wr wr = {
        .wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = m->opcode, .send_flags = IBV_SEND_SIGNALED};
    const uint64_t remote = (uintptr_t)b->memory + m->beyond_remote + (m->odd ? 4 : 0);
    const uint32_t rkey = b->mr->rkey + (m->wrong_rkey ? 0x100 : 0);
    if (m->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || m->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
        wr.wr.atomic.remote_addr = remote;
        wr.wr.atomic.rkey = rkey;
        wr.wr.atomic.compare_add = 1;
    } else {
        wr.wr.rdma.remote_addr = remote;
        wr.wr.rdma.rkey = rkey;
    }
    if (m->receive) post_receive(qp[1], b, 0, m->receive, 5);
    post_receive(qp[0], a, 0, 64, 6);
    post(qp[0], &wr);
    /* What is posted behind it is flushed, signalled or not, and so is what was to be received. */
    wr.wr_id = 2;
    wr.send_flags = 0;
    post(qp[0], &wr);
    struct ibv_wc wc = completion(a);
    if (wc.status != m->here)
        fail("%s ends with %s instead of %s", m->what, ibv_wc_status_str(wc.status), ibv_wc_status_str(m->here));
    require(wc.wr_id == 1, "the request that failed completes first");
    unsigned flushed = 0;
    for (unsigned i = 0; i < 2; ++i) {
        wc = completion(a);
        bad(wc, IBV_WC_WR_FLUSH_ERR);
        flushed |= 1u << (wc.wr_id == 6);
    }
    require(flushed == 3, "both queues are flushed");
    if (m->there) bad(completion(b), m->there);
    require(state_of(qp[0]) == IBV_QPS_ERR, "the queue pair is in the error state");
    expect_event(qp[1], m->event);
    silence(a);
    silence(b);
    if (m->receive && m->there) memcpy(b->expected, b->memory, m->receive); /* may hold part of what was sent */
    compare(m->what, m->bytes);
    destroy_pair(qp);
}

/* Requests of queue pairs whose peer has no receive request, or is not there. */
static void check_retries(void) {
    struct ibv_qp* qp[2];
    refill();
    for (unsigned gone = 0; gone < 2; ++gone) {
        connect_pair(qp, (struct options){
                             .type = IBV_QPT_RC, .rnr_retries = 2, .timeout = 8, .wrong_peer = gone ? 0xabcdef : 0});
        struct ibv_sge sge = {(uintptr_t)ends[0].memory, 64, ends[0].mr->lkey};
        struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
        post(qp[0], &wr);
        bad(completion(&ends[0]), gone ? IBV_WC_RETRY_EXC_ERR : IBV_WC_RNR_RETRY_EXC_ERR);
        silence(&ends[0]);
        destroy_pair(qp);
    }
    compare("sends without receives", 64);
    passed("retries");
}

void check_errors(void) {
    fcntl(ends[1].context->async_fd, F_SETFL, fcntl(ends[1].context->async_fd, F_GETFL) | O_NONBLOCK);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; ++i) make(&mistakes[i]);
    passed("error completions");
    check_retries();
}
