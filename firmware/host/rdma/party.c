/* SPDX-License-Identifier: Apache-2.0 */
#include "host/rdma/party.h"

#include "host/heap.h"
#include "host/machine.h"
#include "host/timer.h"

enum {
    IDLES = 4,
    SLOTS = 256,
    LOG_SLOTS = 8,
    SLOT = 256,
    SAY_AGAIN_US = 50,
    TRAVEL_US = 10,
    NAP_US = 20,
    CONTROL_QKEY = 0x46565030,
    SENDING = SLOTS * SLOT
};

struct message {
    uint32_t tag, from;
    uint8_t data[TOLD_BYTES];
};

static void post_slot(struct party* p, uint64_t slot) {
    const struct verbs_element e = {(uintptr_t)p->control_memory + slot * SLOT, p->control_mr.key,
                                    HCA_GRH_BYTES + sizeof(struct message)};
    const struct verbs_receive r = {slot, &e, 1};
    if (verbs_post_receive(&p->control, &r, 1) != 1) panic("party: no room for a receive");
}

/* Takes what has come. */
static void listen(struct party* p) {
    struct verbs_completion c;
    while (verbs_poll(&p->control_cq, &c, 1)) {
        if (c.syndrome) panic("party: %s", verbs_syndrome_name(c.syndrome));
        if (c.is_send) continue;
        const struct message* m = (const struct message*)(p->control_memory + c.id * SLOT + HCA_GRH_BYTES);
        if (m->from < p->count && m->tag >= p->tag[m->from]) {
            struct told* to = &p->told[m->from][m->tag & 1];
            to->tag = m->tag;
            memcpy(to->data, m->data, TOLD_BYTES);
        }
        post_slot(p, c.id);
    }
}

static void say(struct party* p, unsigned to, const struct message* m) {
    uint8_t* at = p->control_memory + SENDING + (p->control.sends.head & (SLOTS - 1)) * SLOT;
    memcpy(at, m, sizeof *m);
    const struct verbs_element e = {(uintptr_t)at, p->control_mr.key, sizeof *m};
    const struct verbs_send s = {.list = &e,
                                 .elements = 1,
                                 .opcode = HCA_OP_SEND,
                                 .flags = VERBS_SIGNALLED,
                                 .to = {.lid = (uint16_t)(to + 1), .qpn = p->control.number, .qkey = CONTROL_QKEY}};
    while (!verbs_post_send(&p->control, &s, 1)) listen(p);
}

void party_join(struct party* p, unsigned count) {
    uint8_t info[HCA_MAD_DATA_SIZE];
    memset(p, 0, sizeof *p);
    if (!pci_start(&p->pci)) panic("no PCIe host bridge");
    if (!verbs_open(&p->hca, &p->pci, 0)) refuse("no HCA can be used: this program needs one at every node");
    if (!verbs_wait_port(&p->hca, info, PATIENCE_US)) panic("the port does not become active");
    p->count = count;
    p->index = hca_get(info, HCA_PORT_LID) - 1u;
    p->log_mtu = hca_get(info, HCA_PORT_MTU_ACTIVE) + 7;
    if (p->index >= count) refuse("nodes=%u: this machine has more: here is node %u", count, p->index);
    const struct verbs_qp_shape shape = {.type = HCA_QP_UD,
                                         .send_cq = &p->control_cq,
                                         .receive_cq = &p->control_cq,
                                         .log_sends = LOG_SLOTS,
                                         .log_receives = LOG_SLOTS,
                                         .send_elements = 1,
                                         .receive_elements = 1};
    const struct verbs_qp_attributes attributes = {.log_mtu = p->log_mtu, .qkey = CONTROL_QKEY};
    p->control_memory = heap_allocate_aligned(2 * SLOTS * SLOT, HCA_PAGE);
    if (!p->control_memory || !verbs_open_pd(&p->pd, &p->hca) ||
        !verbs_register_host(&p->control_mr, &p->pd, p->control_memory, 2 * SLOTS * SLOT,
                             VERBS_LOCAL_READ | VERBS_LOCAL_WRITE) ||
        !verbs_create_cq(&p->control_cq, &p->pd, LOG_SLOTS + 1, NULL) ||
        !verbs_create_qp(&p->control, &p->pd, &shape, NULL) || !verbs_modify(&p->control, HCA_QP_INIT, &attributes))
        panic("party: no queue pair for datagrams, status 0x%x", p->hca.status);
    for (unsigned i = 0; i < SLOTS; ++i) post_slot(p, i);
    if (!verbs_modify(&p->control, HCA_QP_RTR, &attributes) || !verbs_modify(&p->control, HCA_QP_RTS, &attributes))
        panic("party: the queue pair for datagrams does not start, status 0x%x", p->hca.status);
}

void meet_all(struct party* p) {
    for (unsigned i = 0; i < p->count; ++i)
        if (i != p->index) party_meet(p, i);
}

/* At first the other one may not listen yet, and datagrams to nobody are lost: so the first one is said until an answer
 * has come, and once more, since the other one listens by then. */
void party_exchange(struct party* p, unsigned with, const void* mine, void* theirs, size_t bytes) {
    struct message m = {.tag = ++p->tag[with], .from = p->index};
    const struct told* answer = &p->told[with][m.tag & 1];
    if (bytes > TOLD_BYTES) panic("party: %lu bytes are too many", bytes);
    if (bytes) memcpy(m.data, mine, bytes);
    const uint64_t begin = timer_now();
    uint64_t said = begin;
    say(p, with, &m);
    for (listen(p); answer->tag != m.tag; listen(p)) {
        for (unsigned i = 0; i < IDLES; ++i) party_idle();
        const uint64_t now = timer_now();
        if (timer_microseconds(now - begin) > PATIENCE_US) panic("party: nothing comes from node %u", with);
        if (m.tag != 1 || timer_microseconds(now - said) < SAY_AGAIN_US) continue;
        say(p, with, &m);
        said = now;
    }
    if (m.tag == 1) say(p, with, &m);
    if (bytes) memcpy(theirs, answer->data, bytes);
}

void party_await(struct party* p, unsigned with) {
    const uint32_t tag = p->tag[with] + 1;
    for (listen(p); p->told[with][tag & 1].tag != tag; listen(p)) timer_sleep(NAP_US);
}

void party_leave(struct party* p) {
    while (p->control.sends.head != p->control.sends.tail) listen(p);
    timer_wait(TRAVEL_US);
}
