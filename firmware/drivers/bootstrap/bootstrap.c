/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/bootstrap/bootstrap.h"

#include "drivers/bootstrap/peer.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/timer.h"

enum {
    POLL_DELAYS = 4,
    RESEND_INTERVAL_US = 50,
    ACKNOWLEDGEMENT_TIMEOUT_US = 20000,
    DRAIN_US = 10,
    POLL_INTERVAL_US = 20
};

void bootstrap_take_completions(struct bootstrap* p) {
    struct verbs_completion c;
    while (verbs_poll(&p->control_cq, &c, 1)) {
        if (c.id >> 32 == REQUEST_PEER)
            peer_completed(p, (unsigned)(c.id >> 16 & 0xffff), (unsigned)(c.id & 0xffff), &c);
        else
            hello_completed(p, &c);
    }
}

static void poll(struct bootstrap* p) {
    bootstrap_take_completions(p);
    for (unsigned rank = 0; p->failed_peers && rank < p->comm.size; ++rank)
        if (p->peers[rank].failed) peer_restart(p, rank);
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
    if (p->comm.rank >= count)
        usage_error("the adapter of this node has LID %u: with %u nodes, LIDs are 1 to %u", p->comm.rank + 1, count,
                    count);
    const size_t bytes = HELLO_BYTES + (size_t)count * 2 * PEER_SLOTS * PEER_SLOT;
    unsigned log_cq = 0;
    while (1u << log_cq < 2 * HELLO_SLOTS + count * 2 * PEER_SLOTS) ++log_cq;
    p->peers = heap_allocate_aligned(count * sizeof *p->peers, sizeof(uint64_t));
    p->control_memory = heap_allocate_aligned(bytes, HCA_PAGE);
    if (!p->peers || !p->control_memory) panic("bootstrap: out of memory");
    memset(p->peers, 0, count * sizeof *p->peers);
    if (!verbs_open_pd(&p->pd, &p->hca) ||
        !verbs_register_host(&p->control_mr, &p->pd, p->control_memory, bytes, VERBS_LOCAL_READ | VERBS_LOCAL_WRITE) ||
        !verbs_create_cq(&p->control_cq, &p->pd, log_cq, NULL))
        panic("bootstrap: no control messages, status 0x%x", p->hca.status);
    hello_open(p);
}

void bootstrap_barrier(struct bootstrap* p) {
    for (unsigned i = 0; i < p->comm.size; ++i)
        if (i != p->comm.rank) bootstrap_barrier_with(p, i);
}

/* Waits until the other rank has what it was sent; for so long: if it has ended since, nothing tells. */
static void wait_for_acknowledgement(struct bootstrap* p, unsigned with) {
    const struct bootstrap_peer* peer = &p->peers[with];
    const uint64_t begin = timer_now();
    while (peer->acknowledged != peer->sent && timer_microseconds(timer_now() - begin) < ACKNOWLEDGEMENT_TIMEOUT_US)
        poll(p);
}

/* At first the other rank may not listen yet, and its datagrams are lost, so they are repeated. The adapter repeats
 * messages, but not for ever: a rank that went on before its message has arrived could not see that. */
void bootstrap_exchange(struct bootstrap* p, unsigned with, const void* local, void* remote, size_t bytes) {
    struct bootstrap_peer* peer = &p->peers[with];
    struct bootstrap_message m = {.tag = ++peer->tag};
    const struct bootstrap_message* response = &peer->inbox[m.tag & 1];
    if (bytes > BOOTSTRAP_MESSAGE_BYTES) panic("bootstrap: %lu bytes are too many", bytes);
    if (bytes) memcpy(m.data, local, bytes);
    peer_open(p, with);
    const uint64_t begin = timer_now();
    uint64_t sent_at = begin;
    bool queued = false;
    if (!peer->heard) hello_send(p, with);
    for (poll(p); response->tag != m.tag || !queued; poll(p)) {
        if (!queued && peer_has_room(peer)) {
            peer_send(p, with, &m);
            queued = true;
            continue;
        }
        for (unsigned i = 0; i < POLL_DELAYS; ++i) bootstrap_poll_delay();
        if (!timer_wait_more(begin, BOOTSTRAP_TIMEOUT_US)) panic("bootstrap: nothing comes from node %u", with);
        const uint64_t now = timer_now();
        if (peer->heard || timer_microseconds(now - sent_at) < RESEND_INTERVAL_US) continue;
        hello_send(p, with);
        sent_at = now;
    }
    if (bytes) memcpy(remote, response->data, bytes);
    wait_for_acknowledgement(p, with);
}

void bootstrap_wait_for(struct bootstrap* p, unsigned with) {
    const uint32_t tag = p->peers[with].tag + 1;
    const uint64_t begin = timer_now();
    for (poll(p); p->peers[with].inbox[tag & 1].tag != tag; poll(p)) {
        timer_sleep(POLL_INTERVAL_US);
        if (timer_microseconds(timer_now() - begin) > BOOTSTRAP_WORK_TIMEOUT_US)
            panic("bootstrap: node %u has not come to the next exchange within %u s", with,
                  BOOTSTRAP_WORK_TIMEOUT_US / 1000000);
    }
}

void bootstrap_finalize(struct bootstrap* p) {
    for (unsigned i = 0; i < p->comm.size; ++i) wait_for_acknowledgement(p, i);
    const uint64_t begin = timer_now();
    for (poll(p); p->hello_qp.send_queue.head != p->hello_qp.send_queue.tail; poll(p))
        if (!timer_wait_more(begin, BOOTSTRAP_TIMEOUT_US)) panic("bootstrap: this node's adapter does not send");
    timer_wait(DRAIN_US);
}
