/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that serves queues of requests. One source for harts of the host and of the command processor: addresses
 * of its duty are `aperture` further on, where it sees the memory of kernels. */
#ifndef FABRICVP_NETWORK_SERVICE_H
#define FABRICVP_NETWORK_SERVICE_H

#include "abi/network_queue.h"
#include "gpu/verbs/verbs.h"

/* A queue, as its consumer knows it. */
struct network_served {
    struct network_queue* queue;
    uint32_t taken; /* requests that were begun */
    uint32_t free;  /* whose entries were given back, in order: read_index */
    uint64_t ended; /* bit n: that of entry n has ended, but not all before it */
};

struct network_thread {
    unsigned queues, log_entries, peers;
    struct network_served served[NETWORK_MOST_QUEUES];
    struct network_sends {
        struct rdma_pair pair; /* number 0: there is none */
        struct rdma_cq cq;
        uint32_t lkey, rkey;
        uint32_t head, ended, rung;                  /* counters: written, known to have ended, announced */
        uint32_t consumer;                           /* completions taken */
        unsigned opcode, size;                       /* of the first that was not announced */
        uint16_t owner[1 << NETWORK_MOST_LOG_SENDS]; /* queue << 8 | entry */
    } sends[NETWORK_MOST_PEERS];
};

/* \param duty where it lies, as this thread sees it */
void network_begin(struct network_thread* thread, const struct network_duty* duty, uint64_t aperture);
/* One round over all queues. \returns whether there was anything to do */
bool network_serve(struct network_thread* thread);

#endif
