/* SPDX-License-Identifier: Apache-2.0 */
/* Every byte of every verb: writes, reads, sends, with and without immediate data, inline or not, on all transports;
 * atomics. */
#include "verbs_check.h"

#include <arpa/inet.h>

static const size_t sizes[] = {1, 2, 7, 28, 64, 255, 2047, 2048, 2049, 4096, 10000, 65536 + 13, 1 << 20};

enum { FROM = 4099, TO = 8191 };

/* One transfer from end 0 to end 1, or a read the other way round. */
static void transfer(struct ibv_qp* qp[2], enum ibv_wr_opcode opcode, size_t bytes, int inlined, struct ibv_ah* ah) {
    struct end *a = &ends[0], *b = &ends[1];
    const int immediate = opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    const int send = opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM, read = opcode == IBV_WR_RDMA_READ;
    const uint32_t number = 0x01020304u + (uint32_t)bytes;
    const size_t grh = ah ? GRH : 0;
    struct ibv_sge sge[3];
    struct ibv_send_wr wr = {.wr_id = bytes, .sg_list = sge, .opcode = opcode, .imm_data = htonl(number)};
    wr.num_sge = (int)cut(a, FROM, bytes, sge);
    wr.send_flags = IBV_SEND_SIGNALED | (inlined ? IBV_SEND_INLINE : 0);
    if (ah) {
        wr.wr.ud.ah = ah;
        wr.wr.ud.remote_qpn = qp[1]->qp_num;
        wr.wr.ud.remote_qkey = QKEY;
    } else {
        wr.wr.rdma.remote_addr = (uintptr_t)b->memory + TO;
        wr.wr.rdma.rkey = b->mr->rkey;
    }
    if (send || immediate) post_receive(qp[1], b, TO - grh, send ? grh + bytes + 5 : 1, 77);
    post(qp[0], &wr);
    struct ibv_wc wc = completion(a);
    good(wc, read ? IBV_WC_RDMA_READ : send ? IBV_WC_SEND : IBV_WC_RDMA_WRITE);
    require(wc.wr_id == bytes && wc.qp_num == qp[0]->qp_num, "the sender's completion is the request's");
    if (send || immediate) {
        wc = completion(b);
        good(wc, send ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM);
        require(wc.wr_id == 77 && wc.byte_len == grh + bytes && wc.qp_num == qp[1]->qp_num,
                "the receiver's completion is the message's");
        require(!!(wc.wc_flags & IBV_WC_WITH_IMM) == immediate && (!immediate || ntohl(wc.imm_data) == number),
                "immediate data");
        require(!ah || (wc.src_qp == qp[0]->qp_num && wc.slid == a->lid && !(wc.wc_flags & IBV_WC_GRH)),
                "where a datagram is from");
    }
    if (read)
        expect_copy(a, FROM, b, TO, bytes);
    else
        expect_copy(b, TO, a, FROM, bytes);
    compare(read ? "a read" : send ? "a send" : "a write", bytes);
}

static void check_transport(enum ibv_qp_type type, const char* name) {
    struct ibv_qp* qp[2];
    struct ibv_ah* ah = NULL;
    connect_pair(qp, (struct options){.type = type});
    if (type == IBV_QPT_UD) {
        struct ibv_ah_attr to = {.dlid = ends[1].lid, .port_num = 1};
        ah = ibv_create_ah(ends[0].pd, &to);
        require(ah != NULL, "an address handle");
    }
    const enum ibv_wr_opcode opcodes[] = {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
                                          IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ};
    const unsigned verbs = type == IBV_QPT_RC ? 5 : type == IBV_QPT_UC ? 4 : 2;
    for (unsigned v = 0; v < verbs; ++v) {
        refill();
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
            if (type != IBV_QPT_UD || sizes[i] <= MTU) transfer(qp, opcodes[v], sizes[i], 0, ah);
        if (opcodes[v] != IBV_WR_RDMA_READ)
            for (size_t bytes = 1; bytes <= 28; bytes += 9) transfer(qp, opcodes[v], bytes, 1, ah);
    }
    for (unsigned n = 0; n < 2; ++n) silence(&ends[n]);
    if (ah) ibv_destroy_ah(ah);
    destroy_pair(qp);
    passed(name);
}

static void atomic(struct ibv_qp* qp[2], size_t at, int swap, uint64_t compare_add, uint64_t new_value) {
    struct end *a = &ends[0], *b = &ends[1];
    const size_t into = 16384;
    struct ibv_sge sge = {(uintptr_t)a->memory + into, 8, a->mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED};
    wr.opcode = swap ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD;
    wr.wr.atomic.remote_addr = (uintptr_t)b->memory + at;
    wr.wr.atomic.rkey = b->mr->rkey;
    wr.wr.atomic.compare_add = compare_add;
    wr.wr.atomic.swap = new_value;
    uint64_t old;
    memcpy(&old, b->expected + at, 8);
    const uint64_t now = swap ? (old == compare_add ? new_value : old) : old + compare_add;
    memcpy(a->expected + into, &old, 8);
    memcpy(b->expected + at, &now, 8);
    post(qp[0], &wr);
    good(completion(a), swap ? IBV_WC_COMP_SWAP : IBV_WC_FETCH_ADD);
    compare(swap ? "a compare-and-swap" : "a fetch-and-add", 8);
}

/* Operands whose bytes all differ, so that no order of bytes but the right one gives the right result. */
static void check_atomics(void) {
    struct ibv_qp* qp[2];
    connect_pair(qp, (struct options){.type = IBV_QPT_RC});
    refill();
    for (size_t at = 0; at < 64; at += 8) {
        uint64_t now;
        memcpy(&now, ends[1].expected + at, 8);
        atomic(qp, at, 1, now, 0x0123456789abcdefu + at);
        atomic(qp, at, 1, now, 0x1122334455667788u); /* it is another by now: nothing changes */
        atomic(qp, at, 1, 0xefcdab8967452301u, 1);   /* nor for the same bytes in the other order */
        atomic(qp, at, 0, 0x00000000fedcba98u, 0);   /* a carry out of the low half */
        atomic(qp, at, 0, 0xffffffffffffffffu, 0);
        atomic(qp, at, 0, 0x8000000000000001u, 0);
    }
    for (unsigned i = 0; i < 100; ++i) atomic(qp, 4096 - 8, 0, 0x0001000200030004u + i, 0);
    silence(&ends[0]);
    destroy_pair(qp);
    passed("atomics");
}

void check_data(int only_reliable) {
    check_transport(IBV_QPT_RC, "reliable connections");
    if (!only_reliable) check_transport(IBV_QPT_UC, "unreliable connections");
    if (!only_reliable) check_transport(IBV_QPT_UD, "datagrams");
    check_atomics();
}
