/* SPDX-License-Identifier: Apache-2.0 */
/* Who performs what kernels ask of the network, with all else alike: harts of the command processor, harts of the host,
 * or the work-groups themselves. */
#ifndef FABRICVP_HOST_COMPNET_SCHEME_H
#define FABRICVP_HOST_COMPNET_SCHEME_H

#include "abi/network_queue.h"
#include "host/gpurdma/endpoint.h"
#include "network/schedule.h"

enum scheme_kind {
    SCHEME_PROCESSOR = 0, /* harts of the command processor, queues in the GPU's memory */
    SCHEME_HOST = 1,      /* harts of the host, queues in its memory */
    SCHEME_NATIVE = 2,    /* each work-group, by queue pairs of its own in the GPU's memory */
    SCHEME_DRIVEN = 3,    /* the program on the host, between kernels */
    SCHEME_CPU = 4,       /* the program on the host, which computes as well: payload in its memory */
    SCHEME_ASYNC =
        5 /* the GPU's queue between kernels, by packets; the program on the host prepares it (GPUDirect Async) */
};
enum { SCHEME_MOST_THREADS = 8, SCHEME_LOG_SENDS = 6 };
const char* scheme_name(enum scheme_kind kind);

/* Where queue pairs, completions and doorbell records lie: in the memory of who posts, or in one that is told. */
enum scheme_queues { SCHEME_QUEUES_OWN = 0, SCHEME_QUEUES_IN_GPU = 1, SCHEME_QUEUES_IN_HOST = 2 };

struct scheme {
    enum scheme_kind kind;
    enum scheme_queues queue_pairs;
    struct party* party;
    struct gpu_node* node;
    unsigned threads, groups, log_entries;
    uint32_t peers; /* nodes that this one has to do with, a bit each; 0: all. The same seen from both ends */
    bool lock;      /* lines of queues in the GPU's memory stay in its L2 while there are requests in them */
    uint64_t payload_bytes;
    struct place payload; /* in the GPU's memory, for all */
    struct place control; /* a page for flags: in the host's memory where the host talks, else the payload's last */
    struct verbs_mr mr, control_mr;
    struct scheme_remote {
        uint64_t payload, control;
        uint32_t rkey, control_rkey;
    } remote[MOST_PARTIES];
    struct place access; /* struct network_access, by work-group */
    struct place queues, duties;
    struct network_peer peer[NETWORK_MOST_PEERS]; /* of the program itself, where no kernel talks: addresses as harts
                                                     see them; async: as lanes do */
};
static inline bool scheme_host_talks(const struct scheme* s) {
    return s->kind == SCHEME_DRIVEN || s->kind == SCHEME_CPU;
}
static inline bool scheme_kernels_talk(const struct scheme* s) { return s->kind <= SCHEME_NATIVE; }

/* All nodes call it. Threads of services begin. Panics if it cannot be made. */
void scheme_open(struct scheme* scheme);
/* Threads end. */
void scheme_close(struct scheme* scheme);
/* All nodes, with where their payloads, or their control memories, begin. */
struct network_team scheme_team(const struct scheme* scheme);
struct network_team scheme_control_team(const struct scheme* scheme);
/* All nodes have come here. */
void scheme_meet(struct scheme* scheme);

#endif
