/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that serves queues of requests. One source for harts of the host and of the command processor: addresses
 * of its descriptor are `aperture` further on, where it sees the memory of kernels. */
#ifndef FABRICVP_NETWORK_SERVICE_H
#define FABRICVP_NETWORK_SERVICE_H

#include "abi/network_queue.h"
#include "gpu/verbs/verbs.h"

/* A queue, as its consumer knows it. */
struct network_consumer {
    struct network_queue* queue;
    uint32_t consumed;  /* requests that were begun */
    uint32_t retired;   /* that have ended, in order: read_index, once it is published */
    uint64_t completed; /* bit n: that of entry n has ended, but not all before it */
    bool unpublished;   /* read_index is behind */
};
/* What came of a request, before its status is written. */
struct network_completion {
    uint16_t owner; /* queue << 8 | entry */
    uint16_t status;
};
/* That wait for a release: of a round at most an invalid request a queue, beside what one send queue can have. */
enum { NETWORK_MAX_COMPLETIONS = NETWORK_MAX_QUEUES + (1 << NETWORK_MAX_LOG_SQ_SIZE) };

struct network_service {
    unsigned queues, log_entries, peers;
    struct network_doorbells* doorbells; /* NULL: it looks at all queues */
    uint64_t posted, several;            /* bits taken from there, of queues that it has to look at */
    struct network_consumer consumers[NETWORK_MAX_QUEUES];
    struct network_send_queue {
        struct rdma_qp qp; /* number 0: there is none */
        struct rdma_cq cq;
        uint32_t lkey, rkey;
        uint32_t head, retired, announced;            /* counters: written, known to have ended, announced */
        uint32_t consumer;                            /* completions taken */
        unsigned opcode, size;                        /* of the first that was not announced */
        uint16_t owner[1 << NETWORK_MAX_LOG_SQ_SIZE]; /* queue << 8 | entry */
    } send_queues[NETWORK_MAX_PEERS];
    uint32_t unrung, unrecorded;     /* send queues with entries to announce; with completions to give back */
    unsigned completed, unpublished; /* of the two lists below */
    struct network_completion completions[NETWORK_MAX_COMPLETIONS];
    uint8_t unpublished_queues[NETWORK_MAX_QUEUES];
};

/* \param descriptor where it lies, as this thread sees it */
void network_service_start(struct network_service* thread, const struct network_service_descriptor* descriptor,
                           uint64_t aperture);
/* One round over all queues. \returns whether there was anything to do */
bool network_service_poll(struct network_service* thread);

#endif
