/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_check DEVICE DEVICE [reliable]: checks what two RDMA devices of one computer do for each other, by libibverbs:
 * every byte of every verb, atomics, queues, error completions. With `reliable`, what a network that loses packets must
 * carry. Prints a line for each part; status 0 if all is as it must be. */
#include "verbs_check.h"

#include <stdarg.h>
#include <time.h>

struct end ends[2];
static uint8_t retries = 3;
unsigned checks;

void fail(const char* format, ...) {
    va_list list;
    va_start(list, format);
    printf("verbs_check: FAILED: ");
    vprintf(format, list);
    printf("\n");
    exit(1);
}

void require(int good, const char* what) {
    if (!good) fail("%s", what);
    ++checks;
}

void passed(const char* what) {
    static unsigned before;
    printf("%s: %u checks\n", what, checks - before);
    before = checks;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct ibv_wc completion(struct end* e) {
    struct ibv_wc wc;
    const double limit = seconds() + 5;
    int n;
    while ((n = ibv_poll_cq(e->cq, 1, &wc)) == 0)
        if (seconds() > limit) fail("no completion after 5 s");
    require(n == 1, "polling a completion queue");
    return wc;
}

void silence(struct end* e) {
    struct ibv_wc wc;
    const double limit = seconds() + 0.002;
    while (seconds() < limit)
        if (ibv_poll_cq(e->cq, 1, &wc)) fail("a completion too many: status %d, opcode %d", wc.status, wc.opcode);
    ++checks;
}

void good(struct ibv_wc wc, enum ibv_wc_opcode opcode) {
    if (wc.status != IBV_WC_SUCCESS || wc.opcode != opcode)
        fail("a completion of request %llu has status %s and opcode %d instead of %d", (unsigned long long)wc.wr_id,
             ibv_wc_status_str(wc.status), wc.opcode, opcode);
    ++checks;
}

void bad(struct ibv_wc wc, enum ibv_wc_status status) {
    if (wc.status != status)
        fail("a completion has status %s instead of %s", ibv_wc_status_str(wc.status), ibv_wc_status_str(status));
    ++checks;
}

unsigned cut(struct end* e, size_t at, size_t bytes, struct ibv_sge sge[3]) {
    const size_t first = bytes / 3, second = bytes / 5;
    const size_t sizes[3] = {first, second, bytes - first - second};
    unsigned n = 0;
    for (unsigned i = 0; i < 3; ++i) {
        if (!sizes[i]) continue;
        sge[n++] = (struct ibv_sge){(uintptr_t)e->memory + at, (uint32_t)sizes[i], e->mr->lkey};
        at += sizes[i];
    }
    return n;
}

void post(struct ibv_qp* qp, struct ibv_send_wr* wr) {
    struct ibv_send_wr* rest;
    require(ibv_post_send(qp, wr, &rest) == 0, "posting a send request");
}

void post_receive(struct ibv_qp* qp, struct end* e, size_t at, size_t bytes, uint64_t id) {
    struct ibv_sge sge[3];
    struct ibv_recv_wr wr = {.wr_id = id, .sg_list = sge, .num_sge = (int)cut(e, at, bytes, sge)}, *rest;
    require((e->srq && !qp ? ibv_post_srq_recv(e->srq, &wr, &rest) : ibv_post_recv(qp, &wr, &rest)) == 0,
            "posting a receive request");
}

void refill(void) {
    static uint64_t state = 88172645463325252u;
    for (unsigned n = 0; n < 2; ++n) {
        uint64_t* words = (uint64_t*)ends[n].expected;
        for (size_t i = 0; i < MEMORY / 8; ++i) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            words[i] = state;
        }
        memcpy(ends[n].memory, ends[n].expected, MEMORY);
    }
}

void compare(const char* what, size_t bytes) {
    for (unsigned n = 0; n < 2; ++n) {
        if (memcmp(ends[n].memory, ends[n].expected, MEMORY) == 0) continue;
        for (size_t i = 0; i < MEMORY; ++i)
            if (ends[n].memory[i] != ends[n].expected[i])
                fail("%s of %zu bytes: byte %zu of end %u is %02x instead of %02x", what, bytes, i, n,
                     ends[n].memory[i], ends[n].expected[i]);
    }
    ++checks;
}

void expect_copy(struct end* to, size_t at, const struct end* from, size_t from_at, size_t bytes) {
    memcpy(to->expected + at, from->expected + from_at, bytes);
}

static void open_end(struct end* e, const char* name) {
    int count;
    struct ibv_device** devices = ibv_get_device_list(&count);
    for (int i = 0; i < count; ++i)
        if (strcmp(ibv_get_device_name(devices[i]), name) == 0) e->context = ibv_open_device(devices[i]);
    if (!e->context) fail("there is no device %s", name);
    struct ibv_port_attr port;
    require(ibv_query_port(e->context, 1, &port) == 0 && port.state == IBV_PORT_ACTIVE, "the port is active");
    e->lid = port.lid;
    e->memory = aligned_alloc(4096, MEMORY);
    e->expected = aligned_alloc(4096, MEMORY);
    e->pd = ibv_alloc_pd(e->context);
    e->channel = ibv_create_comp_channel(e->context);
    e->cq = ibv_create_cq(e->context, 256, NULL, e->channel, 0);
    require(e->memory && e->expected && e->pd && e->channel && e->cq, "opening a device");
    e->mr = ibv_reg_mr(
        e->pd, e->memory, MEMORY,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
    require(e->mr != NULL, "registering memory");
}

static void to_rtr(struct ibv_qp* qp, struct options o, uint32_t peer, uint16_t lid) {
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
    const int datagrams = o.type == IBV_QPT_UD, reliable = o.type == IBV_QPT_RC;
    a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | (reliable ? IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC : 0);
    require(ibv_modify_qp(
                qp, &a,
                IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | (datagrams ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)) == 0,
            "to INIT");
    a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
                             .path_mtu = IBV_MTU_2048,
                             .dest_qp_num = peer,
                             .rq_psn = 0xfffffa,
                             .max_dest_rd_atomic = 4,
                             .min_rnr_timer = 1};
    a.ah_attr.dlid = lid;
    a.ah_attr.port_num = 1;
    const int connected = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
              only_reliable = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    require(ibv_modify_qp(qp, &a, IBV_QP_STATE | (datagrams ? 0 : connected) | (reliable ? only_reliable : 0)) == 0,
            "to RTR");
}

static void to_rts(struct ibv_qp* qp, struct options o) {
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTS, .sq_psn = 0xfffffa, .max_rd_atomic = 4, .retry_cnt = retries};
    a.timeout = (uint8_t)(o.timeout ? o.timeout : 14);
    a.rnr_retry = (uint8_t)(o.rnr_retries ? o.rnr_retries : 7);
    const int reliable = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    require(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN | (o.type == IBV_QPT_RC ? reliable : 0)) == 0, "to RTS");
}

void connect_pair(struct ibv_qp* qp[2], struct options o) {
    const unsigned depth = o.depth ? o.depth : 32;
    for (unsigned n = 0; n < 2; ++n) {
        struct end* e = &ends[n];
        struct ibv_qp_init_attr init = {
            .send_cq = e->cq, .recv_cq = e->cq, .qp_type = o.type, .srq = o.with_srq ? e->srq : NULL};
        init.cap = (struct ibv_qp_cap){
            .max_send_wr = depth, .max_recv_wr = depth, .max_send_sge = 3, .max_recv_sge = 3, .max_inline_data = 60};
        qp[n] = ibv_create_qp(e->pd, &init);
        require(qp[n] != NULL, "creating a queue pair");
        require(init.cap.max_inline_data >= 60, "room for inline data");
    }
    for (unsigned n = 0; n < 2; ++n)
        to_rtr(qp[n], o, n == 0 && o.wrong_peer ? o.wrong_peer : qp[!n]->qp_num, ends[!n].lid);
    for (unsigned n = 0; n < 2; ++n) to_rts(qp[n], o);
}

void destroy_pair(struct ibv_qp* qp[2]) {
    for (unsigned n = 0; n < 2; ++n) require(ibv_destroy_qp(qp[n]) == 0, "destroying a queue pair");
}

int main(int argc, char** argv) {
    const int reliable = argc == 4 && strcmp(argv[3], "reliable") == 0;
    if (argc != 3 && !reliable) {
        printf("usage: verbs_check DEVICE DEVICE [reliable]\nexample: verbs_check mthca0 mthca1\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (unsigned n = 0; n < 2; ++n) open_end(&ends[n], argv[1 + n]);
    if (reliable) retries = 7;
    check_data(reliable);
    if (!reliable) check_queues();
    if (!reliable) check_errors();
    printf("verbs_check: all %u checks passed\n", checks);
    return 0;
}
