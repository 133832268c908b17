/* SPDX-License-Identifier: Apache-2.0 */
/* A multicast group of all nodes: what one sends comes to all, itself included, once. Another group, and one that has
 * been left, gets nothing. The network has to carry LID 0xc000 (network.multicast, unless a cable joins two nodes). */
#include "abi/ib_packet.h"
#include "drivers/bootstrap/measure.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/pattern.h"

enum { LOG_RQ_SIZE = 7, LOG_SQ_SIZE = 2, MAX_BYTES = 1000, SLOT = 1088, QUIET_US = 20 };

/* The others of these begin with the same head of the adapter's table. */
static const uint8_t gids[3][16] = {{0xff, 0x12, 0x46, 0x50, [14] = 1, [15] = 1},
                                    {0xff, 0x12, 0x46, 0x50, [12] = 1, [13] = 1},
                                    {0xff, 0x12, 0x46, 0x50, [10] = 1, [11] = 1}};

static struct verbs_cq send_cq, receive_cq;
static struct verbs_qp qp;
static struct verbs_mr mr;
static uint8_t* memory; /* slots that receive, and one to send from */
static uint32_t bytes;  /* of a datagram, which the MTU bounds */

static void post_slot(uint64_t slot) {
    const struct verbs_sge e = {(uintptr_t)memory + SLOT * slot, mr.key, HCA_GRH_BYTES + bytes};
    if (verbs_post_receive(&qp, &(struct verbs_receive_request){slot, &e, 1}, 1) != 1)
        panic("group: no room for a receive");
}

static void open_all(struct bootstrap* p) {
    const struct verbs_qp_shape shape = {.type = HCA_QP_UD,
                                         .send_cq = &send_cq,
                                         .receive_cq = &receive_cq,
                                         .log_sq_size = LOG_SQ_SIZE,
                                         .log_rq_size = LOG_RQ_SIZE,
                                         .max_send_sge = 1,
                                         .max_receive_sge = 1};
    const struct verbs_qp_attributes attributes = {.log_mtu = p->log_mtu, .qkey = DATAGRAM_QKEY};
    const uint64_t size = SLOT * ((1u << LOG_RQ_SIZE) + 1);
    memory = heap_allocate_aligned(size, HCA_PAGE);
    bytes = 1u << p->log_mtu < MAX_BYTES ? 1u << p->log_mtu : MAX_BYTES;
    if (!memory || !verbs_register_host(&mr, &p->pd, memory, size, VERBS_LOCAL_READ | VERBS_LOCAL_WRITE) ||
        !verbs_create_cq(&send_cq, &p->pd, LOG_SQ_SIZE + 1, NULL) ||
        !verbs_create_cq(&receive_cq, &p->pd, LOG_RQ_SIZE + 1, NULL) || !verbs_create_qp(&qp, &p->pd, &shape, NULL) ||
        !verbs_connect(&qp, &attributes))
        panic("group: no queue pair, status 0x%x", p->hca.status);
    for (unsigned i = 0; i < 1u << LOG_RQ_SIZE; ++i) post_slot(i);
}

static void close_all(void) {
    verbs_destroy_qp(&qp);
    verbs_destroy_cq(&send_cq);
    verbs_destroy_cq(&receive_cq);
    verbs_unregister(&mr);
    heap_free(memory);
}

static bool send_message(const uint8_t* gid, uint64_t seed) {
    const uint64_t slot = 1u << LOG_RQ_SIZE;
    struct verbs_completion done;
    pattern_write(memory + SLOT * slot, bytes, seed);
    const struct verbs_sge e = {(uintptr_t)memory + SLOT * slot, mr.key, bytes};
    const struct verbs_send_request s = {
        .list = &e,
        .elements = 1,
        .opcode = HCA_OP_SEND,
        .flags = VERBS_SIGNALLED,
        .to = {.lid = IB_FIRST_MULTICAST_LID, .qpn = IB_MULTICAST_QP, .qkey = DATAGRAM_QKEY, .gid = gid}};
    return verbs_post_send(&qp, &s, 1) == 1 && verbs_wait(&send_cq, &done, BOOTSTRAP_TIMEOUT_US) && !done.syndrome;
}

/* One from each node, with the group's name in its global route header. */
static bool receive_all(const struct bootstrap* p, uint64_t seed) {
    uint64_t received_from = 0;
    for (unsigned i = 0; i < p->comm.size; ++i) {
        struct verbs_completion c;
        if (!verbs_wait(&receive_cq, &c, BOOTSTRAP_TIMEOUT_US)) return false;
        const uint8_t* at = memory + SLOT * c.id;
        const unsigned from = c.source_lid - 1u;
        if (c.syndrome || !c.has_grh || c.bytes != HCA_GRH_BYTES + bytes || from >= p->comm.size ||
            received_from >> from & 1)
            return false;
        if (memcmp(at + 24, gids[0], 16) || !pattern_check(at + HCA_GRH_BYTES, bytes, seed + from)) return false;
        received_from |= UINT64_C(1) << from;
        post_slot(c.id);
    }
    return true;
}

bool exchange_group(const struct measure* m) {
    struct bootstrap* p = m->bootstrap;
    struct verbs_completion c;
    open_all(p);
    bool ok =
        verbs_attach(&qp, gids[2]) && verbs_attach(&qp, gids[0]) && verbs_attach(&qp, gids[0]); /* twice is once */
    for (unsigned round = 0; round < 2; ++round) {
        bootstrap_barrier(p);
        ok = send_message(gids[0], 100 * round + p->comm.rank) && ok;
        ok = receive_all(p, 100 * round) && ok;
        bootstrap_barrier(p);
        ok = send_message(gids[1], 0) && ok;
        ok = !verbs_wait(&receive_cq, &c, QUIET_US) && ok;
        if (round == 0) ok = verbs_detach(&qp, gids[2]) && !verbs_detach(&qp, gids[2]) && ok;
    }
    bootstrap_barrier(p);
    ok = verbs_detach(&qp, gids[0]) && ok;
    bootstrap_barrier(p);
    ok = send_message(gids[0], 0) && ok;
    ok = !verbs_wait(&receive_cq, &c, QUIET_US) && ok;
    bootstrap_barrier(p);
    close_all();
    console_printf("multicast  %s\n", ok ? "ok" : "FAILED");
    return ok;
}
