/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/bootstrap/bootstrap.h"

#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/timer.h"

enum {
    POLL_DELAYS = 4,
    SLOTS = 256,
    LOG_SLOTS = 8,
    SLOT = 256,
    RESEND_INTERVAL_US = 50,
    DRAIN_US = 10,
    POLL_INTERVAL_US = 20,
    CONTROL_QKEY = 0x46565030,
    SEND_AREA = SLOTS * SLOT
};

struct message {
    uint32_t tag, from;
    uint8_t data[BOOTSTRAP_MESSAGE_BYTES];
};

static void post_slot(struct bootstrap* p, uint64_t slot) {
    const struct verbs_sge e = {(uintptr_t)p->control_memory + slot * SLOT, p->control_mr.key,
                                HCA_GRH_BYTES + sizeof(struct message)};
    const struct verbs_receive_request r = {slot, &e, 1};
    if (verbs_post_receive(&p->control, &r, 1) != 1) panic("bootstrap: no room for a receive");
}

/* Takes what has come. */
static void poll_messages(struct bootstrap* p) {
    struct verbs_completion c;
    while (verbs_poll(&p->control_cq, &c, 1)) {
        if (c.syndrome) panic("bootstrap: %s", verbs_syndrome_name(c.syndrome));
        if (c.is_send) continue;
        const struct message* m = (const struct message*)(p->control_memory + c.id * SLOT + HCA_GRH_BYTES);
        if (m->from < p->comm.size && m->tag >= p->tag[m->from]) {
            struct bootstrap_message* to = &p->inbox[m->from][m->tag & 1];
            to->tag = m->tag;
            memcpy(to->data, m->data, BOOTSTRAP_MESSAGE_BYTES);
        }
        post_slot(p, c.id);
    }
}

static void send_message(struct bootstrap* p, unsigned to, const struct message* m) {
    uint8_t* at = p->control_memory + SEND_AREA + (p->control.send_queue.head & (SLOTS - 1)) * SLOT;
    memcpy(at, m, sizeof *m);
    const struct verbs_sge e = {(uintptr_t)at, p->control_mr.key, sizeof *m};
    const struct verbs_send_request s = {
        .list = &e,
        .elements = 1,
        .opcode = HCA_OP_SEND,
        .flags = VERBS_SIGNALLED,
        .to = {.lid = (uint16_t)(to + 1), .qpn = p->control.number, .qkey = CONTROL_QKEY}};
    while (!verbs_post_send(&p->control, &s, 1)) poll_messages(p);
}

void bootstrap_init(struct bootstrap* p, unsigned count) {
    uint8_t info[HCA_MAD_DATA_SIZE];
    memset(p, 0, sizeof *p);
    if (!pci_start(&p->pci)) panic("no PCIe host bridge");
    if (!verbs_open(&p->hca, &p->pci, 0)) usage_error("no HCA can be used: this program needs one at every node");
    if (!verbs_wait_port(&p->hca, info, BOOTSTRAP_TIMEOUT_US)) panic("the port does not become active");
    p->comm.size = count;
    p->comm.rank = hca_get(info, HCA_PORT_LID) - 1u;
    p->log_mtu = hca_get(info, HCA_PORT_MTU_ACTIVE) + 7;
    if (p->comm.rank >= count) usage_error("nodes=%u: this machine has more: here is node %u", count, p->comm.rank);
    const struct verbs_qp_shape shape = {.type = HCA_QP_UD,
                                         .send_cq = &p->control_cq,
                                         .receive_cq = &p->control_cq,
                                         .log_sq_size = LOG_SLOTS,
                                         .log_rq_size = LOG_SLOTS,
                                         .max_send_sge = 1,
                                         .max_receive_sge = 1};
    const struct verbs_qp_attributes attributes = {.log_mtu = p->log_mtu, .qkey = CONTROL_QKEY};
    p->control_memory = heap_allocate_aligned(2 * SLOTS * SLOT, HCA_PAGE);
    if (!p->control_memory || !verbs_open_pd(&p->pd, &p->hca) ||
        !verbs_register_host(&p->control_mr, &p->pd, p->control_memory, 2 * SLOTS * SLOT,
                             VERBS_LOCAL_READ | VERBS_LOCAL_WRITE) ||
        !verbs_create_cq(&p->control_cq, &p->pd, LOG_SLOTS + 1, NULL) ||
        !verbs_create_qp(&p->control, &p->pd, &shape, NULL) || !verbs_modify(&p->control, HCA_QP_INIT, &attributes))
        panic("bootstrap: no queue pair for datagrams, status 0x%x", p->hca.status);
    for (unsigned i = 0; i < SLOTS; ++i) post_slot(p, i);
    if (!verbs_modify(&p->control, HCA_QP_RTR, &attributes) || !verbs_modify(&p->control, HCA_QP_RTS, &attributes))
        panic("bootstrap: the queue pair for datagrams does not start, status 0x%x", p->hca.status);
}

void bootstrap_barrier(struct bootstrap* p) {
    for (unsigned i = 0; i < p->comm.size; ++i)
        if (i != p->comm.rank) bootstrap_barrier_with(p, i);
}

/* At first the other rank may not listen yet, and its datagrams are lost. So the first one is repeated until a
 * response has come, and sent once more, since the other rank listens by then. */
void bootstrap_exchange(struct bootstrap* p, unsigned with, const void* local, void* remote, size_t bytes) {
    struct message m = {.tag = ++p->tag[with], .from = p->comm.rank};
    const struct bootstrap_message* response = &p->inbox[with][m.tag & 1];
    if (bytes > BOOTSTRAP_MESSAGE_BYTES) panic("bootstrap: %lu bytes are too many", bytes);
    if (bytes) memcpy(m.data, local, bytes);
    const uint64_t begin = timer_now();
    uint64_t sent_at = begin;
    send_message(p, with, &m);
    for (poll_messages(p); response->tag != m.tag; poll_messages(p)) {
        for (unsigned i = 0; i < POLL_DELAYS; ++i) bootstrap_poll_delay();
        const uint64_t now = timer_now();
        if (timer_microseconds(now - begin) > BOOTSTRAP_TIMEOUT_US)
            panic("bootstrap: nothing comes from node %u", with);
        if (m.tag != 1 || timer_microseconds(now - sent_at) < RESEND_INTERVAL_US) continue;
        send_message(p, with, &m);
        sent_at = now;
    }
    if (m.tag == 1) send_message(p, with, &m);
    if (bytes) memcpy(remote, response->data, bytes);
}

void bootstrap_wait_for(struct bootstrap* p, unsigned with) {
    const uint32_t tag = p->tag[with] + 1;
    for (poll_messages(p); p->inbox[with][tag & 1].tag != tag; poll_messages(p)) timer_sleep(POLL_INTERVAL_US);
}

void bootstrap_finalize(struct bootstrap* p) {
    while (p->control.send_queue.head != p->control.send_queue.tail) poll_messages(p);
    timer_wait(DRAIN_US);
}
