/* SPDX-License-Identifier: Apache-2.0 */
/* The program itself, which puts into other nodes' memory by queue pairs of its own. */
#ifndef FABRICVP_PROGRAMS_COMPNET_HOST_ENDPOINT_H
#define FABRICVP_PROGRAMS_COMPNET_HOST_ENDPOINT_H

#include "programs/compnet/backend.h"

struct host_endpoint {
    struct backend* backend;
    struct host_endpoint_peer {
        struct rdma_qp qp;
        struct rdma_cq cq;
        uint32_t posted, retired, consumer;
    } to[NETWORK_MAX_PEERS];
    unsigned failed; /* enum hca_syndrome of the first that did */
};

void host_endpoint_init(struct host_endpoint* host_endpoint, struct backend* backend);
/* Between the payloads; offsets there. */
void host_endpoint_put(struct host_endpoint* host_endpoint, unsigned peer, uint64_t from, uint64_t to, uint32_t bytes);
/* 8 bytes to the peer's control memory. */
void host_endpoint_notify(struct host_endpoint* host_endpoint, unsigned peer, uint64_t offset, uint64_t value);
/* Waits until 8 bytes of the own control memory have an upper half of `number` or more. Panics if none is written.
 */
uint64_t host_endpoint_wait(struct host_endpoint* host_endpoint, uint64_t offset, uint32_t number);
/* Waits until all that was put has ended. */
void host_endpoint_flush(struct host_endpoint* host_endpoint);
/* The same. \returns whether it ended well */
bool host_endpoint_finish(struct host_endpoint* host_endpoint);

#endif
