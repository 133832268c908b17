/* SPDX-License-Identifier: Apache-2.0 */
/* Who performs what kernels ask of the network, with all else alike: harts of the command processor, harts of the host,
 * or the work-groups themselves. */
#ifndef FABRICVP_PROGRAMS_COMPNET_BACKEND_H
#define FABRICVP_PROGRAMS_COMPNET_BACKEND_H

#include "abi/network_queue.h"
#include "drivers/gpu_rdma/endpoint.h"
#include "network/schedule.h"

enum backend_kind {
    BACKEND_COMPNET = 0,    /* harts of the command processor, queues in the GPU's memory */
    BACKEND_GHN = 1,        /* harts of the host, queues in its memory or the GPU's */
    BACKEND_GPU_NATIVE = 2, /* each work-group, by queue pairs of its own in the GPU's memory */
    BACKEND_HDN = 3,        /* the program on the host, between kernels */
    BACKEND_CPU = 4,        /* the program on the host, which computes as well: payload in its memory */
    BACKEND_GDS = 5 /* GPUDirect Async: stream packets between kernels, which the program on the host has submitted */
};
enum { BACKEND_MAX_THREADS = 8, BACKEND_LOG_SQ_SIZE = 6 };
/* Until a request without acknowledgement is sent again (1 ms), and how long a wait for another node lasts (25 ms): as
 * long as all retries of a request, of the request that replies to it, and of one that this waited for. */
enum { BACKEND_ACK_TIMEOUT = 8, BACKEND_TIMEOUT_NS = 3 * (ENDPOINT_RETRIES + 1) * (4096 << BACKEND_ACK_TIMEOUT) };
extern const char* const backend_names[]; /* as options and results have them; then NULL */
const char* backend_name(enum backend_kind kind);

/* Where queue pairs, completions and doorbell records lie: in the poster's memory, or in a given one. */
enum backend_queue_placement { BACKEND_QUEUES_WITH_POSTER = 0, BACKEND_QUEUES_IN_GPU = 1, BACKEND_QUEUES_IN_HOST = 2 };
extern const char* const backend_queue_placement_names[];

/* Where requests of work-groups lie that host threads serve. */
extern const char* const backend_request_names[];
enum { BACKEND_REQUESTS_IN_HOST = 0, BACKEND_REQUESTS_IN_GPU = 1 };

struct backend {
    enum backend_kind kind;
    enum backend_queue_placement queue_pairs;
    bool requests_in_gpu; /* host threads read them through the BAR; those of the command processor always lie there */
    bool rings;           /* work-groups ring doorbells of the command processor's harts, which look at no queue else */
    struct bootstrap* bootstrap;
    struct gpu_node* node;
    unsigned threads, groups, log_entries;
    uint32_t peers; /* nodes that this one has to do with, a bit each; 0: all. The same seen from both ends */
    bool lock;      /* lines of queues in the GPU's memory stay in its L2 while there are requests in them */
    uint64_t payload_bytes;
    struct rdma_buffer payload; /* in the GPU's memory, for all */
    struct rdma_buffer
        control; /* a page for flags: in the host's memory where the host talks, else the payload's last */
    struct verbs_mr mr, control_mr;
    struct backend_remote {
        uint64_t payload, control;
        uint32_t rkey, control_rkey;
    } remote[BOOTSTRAP_MAX_RANKS];
    struct rdma_buffer access; /* struct network_access, by work-group */
    struct rdma_buffer queues, descriptors, doorbells;
    struct network_peer peer[NETWORK_MAX_PEERS]; /* of the program itself, where no kernel talks: addresses as harts
                                                     see them; async: as lanes do */
};
static inline bool backend_is_host_driven(const struct backend* s) {
    return s->kind == BACKEND_HDN || s->kind == BACKEND_CPU;
}
static inline bool backend_is_in_kernel(const struct backend* s) { return s->kind <= BACKEND_GPU_NATIVE; }

/* All nodes call it. Threads of services begin. Panics if it cannot be made. */
void backend_open(struct backend* backend);
/* Threads end. */
void backend_close(struct backend* backend);
/* All nodes, with where their payloads, or their control memories, begin. */
struct network_segments backend_payload_segments(const struct backend* backend);
struct network_segments backend_control_segments(const struct backend* backend);
/* All nodes have come here. */
void backend_barrier(struct backend* backend);

#endif
