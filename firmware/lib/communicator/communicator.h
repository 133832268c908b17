/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that find each other over the network: every node runs this program, and the LIDs of their adapters are 1, 2,
 * …. Datagrams carry what they have to tell each other; the first queue pair of an adapter has the same number
 * everywhere. */
#ifndef FABRICVP_LIB_COMMUNICATOR_COMMUNICATOR_H
#define FABRICVP_LIB_COMMUNICATOR_COMMUNICATOR_H

#include "drivers/verbs/verbs.h"
#include "lib/harts.h"

enum { COMM_MAX_RANKS = 64, COMM_MESSAGE_BYTES = 192, COMM_TIMEOUT_US = 200000 };

struct communicator {
    struct pci_host pci;
    struct verbs_device hca;
    struct verbs_pd pd;
    unsigned rank, size; /* this node's place among all: its LID - 1 */
    unsigned log_mtu;
    struct verbs_cq control_cq;
    struct verbs_qp control;
    struct verbs_mr control_mr;
    uint8_t* control_memory;
    uint32_t tag[COMM_MAX_RANKS]; /* of the last exchange with each */
    struct comm_message {
        uint32_t tag;
        uint8_t data[COMM_MESSAGE_BYTES];
    } inbox[COMM_MAX_RANKS][2]; /* what has come, by tag; a party is at most one ahead */
};

/* Opens adapter `adapter` of this node, of `count` in all. Panics if it cannot. */
void comm_init(struct communicator* comm, unsigned count);
/* Gives `mine` to another one and takes what it gives: both call it. No more than COMM_MESSAGE_BYTES. */
void comm_exchange(struct communicator* comm, unsigned with, const void* local, void* remote, size_t bytes);
/* Between two looks at what does not change so soon. */
static inline void comm_poll_delay(void) {
    for (unsigned i = 0; i < 64; ++i) relax();
}
/* Waits until the other one has begun the next exchange, asleep most of the time, for as long as it takes. */
void comm_wait_for(struct communicator* comm, unsigned with);
/* Waits until all that was told has arrived, for the link goes with this node. To be called before that. */
void comm_finalize(struct communicator* comm);
static inline void comm_barrier_with(struct communicator* comm, unsigned with) {
    comm_exchange(comm, with, NULL, NULL, 0);
}
/* Everybody with everybody. */
void comm_barrier(struct communicator* comm);

/* ---- two queue pairs that are connected, with memory that the other one may use ---- */

typedef struct verbs_memory (*channel_memory)(struct communicator* comm, uint64_t bytes);
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
    struct communicator* comm;
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
void channel_open(struct channel* channel, struct communicator* comm, unsigned with, const struct channel_shape* shape);
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

/* Whether this party began: the one with the lower index. */
static inline bool channel_is_first(const struct channel* c) { return c->comm->rank < c->with; }

#endif
