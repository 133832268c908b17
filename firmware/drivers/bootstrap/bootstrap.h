/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that find each other over the network: every node runs this program, and the LIDs of their adapters are 1, 2,
 * …. A reliable queue pair for each other rank carries control messages, whatever the network loses; datagrams
 * (hello.c) tell its number. */
#ifndef FABRICVP_DRIVERS_BOOTSTRAP_BOOTSTRAP_H
#define FABRICVP_DRIVERS_BOOTSTRAP_BOOTSTRAP_H

#include "drivers/verbs/verbs.h"
#include "lib/communicator.h"
#include "lib/harts.h"

enum {
    BOOTSTRAP_MAX_RANKS = 64,
    BOOTSTRAP_MESSAGE_BYTES = 192,
    BOOTSTRAP_TIMEOUT_US = 200000,
    BOOTSTRAP_WORK_TIMEOUT_US = 5000000
};

struct bootstrap {
    struct pci_host pci;
    struct verbs_device hca;
    struct verbs_pd pd;
    struct communicator comm; /* rank: the adapter's LID - 1 */
    unsigned log_mtu;
    struct verbs_cq control_cq;
    struct verbs_qp hello_qp; /* for datagrams; as the adapter's first, it has the same number everywhere */
    struct verbs_mr control_mr;
    uint8_t* control_memory;
    struct bootstrap_peer* peers; /* by rank (peer.h) */
    unsigned failed_peers;
};

/* Opens adapter `adapter` of this node, of `count` in all. Panics if it cannot. */
void bootstrap_init(struct bootstrap* bootstrap, unsigned count);
/* Gives `local` to another rank and takes what it gives: both call it. No more than BOOTSTRAP_MESSAGE_BYTES. */
void bootstrap_exchange(struct bootstrap* bootstrap, unsigned with, const void* local, void* remote, size_t bytes);
/* Between two looks at what does not change so soon. */
static inline void bootstrap_poll_delay(void) {
    for (unsigned i = 0; i < 64; ++i) relax();
}
/* Waits until the other one has begun the next exchange, asleep most of the time. Panics if it has not within
 * BOOTSTRAP_WORK_TIMEOUT_US, in which it may work: five times what a kernel may take. */
void bootstrap_wait_for(struct bootstrap* bootstrap, unsigned with);
/* Waits until all that was told has arrived, for the link goes with this node. To be called before that. Panics where
 * this node's adapter does not send it. */
void bootstrap_finalize(struct bootstrap* bootstrap);
static inline void bootstrap_barrier_with(struct bootstrap* bootstrap, unsigned with) {
    bootstrap_exchange(bootstrap, with, NULL, NULL, 0);
}
/* All ranks with all ranks. */
void bootstrap_barrier(struct bootstrap* bootstrap);

/* ---- two queue pairs that are connected, with memory that the other one may use ---- */

typedef struct verbs_memory (*channel_memory)(struct bootstrap* bootstrap, uint64_t bytes);
struct channel_shape {
    enum hca_qp_type type;
    unsigned log_sq_size, log_rq_size, elements, inline_bytes;
    struct verbs_srq* srq;
    unsigned rights;                    /* of the queue pair; 0: all */
    bool fast;                          /* gives up soon */
    bool held;                          /* in RTR, until channel_start() */
    channel_memory queues, cqs, memory; /* where these lie; NULL: in the heap */
    struct verbs_uar* uar;              /* or NULL */
    uint64_t bytes;
};
struct channel {
    struct bootstrap* bootstrap;
    unsigned with;
    struct verbs_cq send_cq, receive_cq;
    struct verbs_qp qp;
    struct verbs_memory memory;
    bool own_memory, fast;
    struct verbs_qp_attributes attributes;
    struct verbs_mr mr;
    struct { /* what the other one has */
        uint32_t qpn, rkey;
        uint64_t address;
    } remote;
};
enum { LOG_CQ = 8, DATAGRAM_QKEY = 0x11112222 };
void channel_open(struct channel* channel, struct bootstrap* bootstrap, unsigned with,
                  const struct channel_shape* shape);
/* Both queue pairs from RESET to RTS. */
void channel_connect(struct channel* channel, unsigned rights);
/* This side's from RTR to RTS, which the other one does not hear of. */
void channel_start(struct channel* channel);
void channel_close(struct channel* channel);

/* One request, and its completion if it has one. \returns its syndrome, or NO_COMPLETION */
enum { NO_COMPLETION = 0x100 };
unsigned channel_send(struct channel* channel, const struct verbs_send_request* request,
                      struct verbs_completion* completion);
/* A request with one element of the channel's own memory, and an address in the other one's. */
struct verbs_send_request channel_request(const struct channel* channel, enum hca_opcode opcode,
                                          struct verbs_sge* element, uint64_t from, uint64_t to, uint32_t bytes);
static inline uint8_t* channel_at(const struct channel* c, uint64_t offset) {
    return (uint8_t*)(c->memory.at + offset);
}

/* Whether this rank begins: the lower one. */
static inline bool channel_is_first(const struct channel* c) { return c->bootstrap->comm.rank < c->with; }

#endif
