/* SPDX-License-Identifier: Apache-2.0 */
/* The reliable queue pair to another rank, which carries control messages of one packet each. The two sides learn each
 * other's queue pair number by datagrams, which are repeated until the first message has come by the queue pair. A side
 * sends no message before the other listens, and does not stop repeating before it knows that the other one does not
 * need it: what has been sent by then, adapters deliver, whether programs poll or not.
 *
 * An adapter gives up after so many retries. The queue pair then starts again where it was: one message is one packet,
 * so the packet sequence numbers of both directions are those of messages. The other side needs to know nothing. */
#ifndef FABRICVP_DRIVERS_BOOTSTRAP_PEER_H
#define FABRICVP_DRIVERS_BOOTSTRAP_PEER_H

#include "drivers/bootstrap/bootstrap.h"

enum { PEER_LOG_SLOTS = 2, PEER_SLOTS = 1 << PEER_LOG_SLOTS, PEER_SLOT = 256 };

struct bootstrap_message {
    uint32_t tag;
    uint8_t data[BOOTSTRAP_MESSAGE_BYTES];
};

struct bootstrap_peer {
    struct verbs_qp qp;
    bool exists, connected; /* the queue pair; in RTS */
    bool listens;           /* the other side is connected, too */
    bool heard;             /* a message has come by the queue pair: the other side needs no more datagrams */
    bool failed;            /* the adapter has given up */
    uint32_t remote_qpn;
    uint32_t sent, posted, acknowledged; /* messages, ever; posted ones anew after a failure */
    uint32_t received;
    unsigned receives, sends;          /* in the adapter's hands */
    uint32_t tag;                      /* of the last exchange */
    struct bootstrap_message inbox[2]; /* received messages, by tag; a rank is at most one ahead */
};

/* ---- peer.c ---- */
void peer_open(struct bootstrap* p, unsigned rank);
void peer_connect(struct bootstrap* p, unsigned rank, uint32_t remote_qpn);
/* Whether one message more can be queued. */
bool peer_has_room(const struct bootstrap_peer* peer);
void peer_send(struct bootstrap* p, unsigned rank, const struct bootstrap_message* m);
/* Posts what has been queued, once the other side listens. */
void peer_post(struct bootstrap* p, unsigned rank);
void peer_completed(struct bootstrap* p, unsigned rank, unsigned slot, const struct verbs_completion* c);
/* After a failure. */
void peer_restart(struct bootstrap* p, unsigned rank);

/* ---- bootstrap.c ---- */
/* Completions of the queue pairs of all peers and of datagrams. */
void bootstrap_take_completions(struct bootstrap* p);

/* ---- hello.c ---- */
enum { HELLO_LOG_SLOTS = 8, HELLO_SLOTS = 1 << HELLO_LOG_SLOTS, HELLO_SLOT = 64 };
enum { HELLO_BYTES = 2 * HELLO_SLOTS * HELLO_SLOT }; /* of the control memory, at its start */
void hello_open(struct bootstrap* p);
void hello_send(struct bootstrap* p, unsigned rank);
void hello_completed(struct bootstrap* p, const struct verbs_completion* c);

/* Identifiers of requests. */
enum { REQUEST_HELLO = 0, REQUEST_PEER = 1 };
static inline uint64_t request_id(unsigned kind, unsigned rank, unsigned slot) {
    return (uint64_t)kind << 32 | (uint64_t)rank << 16 | slot;
}

#endif
