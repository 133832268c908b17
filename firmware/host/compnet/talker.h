/* SPDX-License-Identifier: Apache-2.0 */
/* The program itself, which puts into other nodes' memory by queue pairs of its own. */
#ifndef FABRICVP_HOST_COMPNET_TALKER_H
#define FABRICVP_HOST_COMPNET_TALKER_H

#include "host/compnet/scheme.h"

struct talker {
    struct scheme* scheme;
    struct talker_way {
        struct rdma_pair pair;
        struct rdma_cq cq;
        uint32_t posted, ended, consumer;
    } to[NETWORK_MOST_PEERS];
    unsigned failed; /* enum hca_syndrome of the first that did */
};

void talker_begin(struct talker* talker, struct scheme* scheme);
/* Between the payloads; offsets there. */
void talker_put(struct talker* talker, unsigned peer, uint64_t from, uint64_t to, uint32_t bytes);
/* 8 bytes to the peer's control memory. */
void talker_say(struct talker* talker, unsigned peer, uint64_t offset, uint64_t value);
/* Waits until 8 bytes of the own control memory have an upper half of `number` or more. Panics if nobody writes them.
 */
uint64_t talker_hear(struct talker* talker, uint64_t offset, uint32_t number);
/* Waits until all that was put has ended. */
void talker_settle(struct talker* talker);
/* The same. \returns whether it ended well */
bool talker_end(struct talker* talker);

#endif
