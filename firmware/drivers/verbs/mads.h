/* SPDX-License-Identifier: Apache-2.0 */
/* Queue pairs 0 and 1 of an adapter: management datagrams to and from the network (InfiniBand Architecture
 * Specification, volume 1, chapters 13 and 14). While one is open, the adapter's own agent does not see what comes for
 * it, so verbs_receive_mad() asks the agent and sends its response. */
#ifndef FABRICVP_DRIVERS_VERBS_MADS_H
#define FABRICVP_DRIVERS_VERBS_MADS_H

#include "abi/ib_packet.h"
#include "drivers/verbs/verbs.h"

struct verbs_mads {
    const struct verbs_pd* pd;
    struct verbs_cq cq;
    struct verbs_qp qp;
    struct verbs_mr mr;
    uint8_t* memory;  /* slots: those that receive, then those that are sent from */
    bool performance; /* queue pair 1 */
    uint32_t psn;
    uint64_t transaction;        /* of the request that was made last */
    unsigned requests_processed; /* requests of others */
};

bool verbs_open_mads(struct verbs_mads* mads, const struct verbs_pd* pd, bool queue_pair_1);
void verbs_close_mads(struct verbs_mads* mads);

/* Sends a datagram of HCA_MAD_SIZE bytes. \param lid IB_PERMISSIVE_LID: by the route that it contains, whose first hop
 * counts from 1 \param qpn of the other one; 0 from queue pair 0 */
bool verbs_send_mad(struct verbs_mads* mads, const void* mad, uint16_t lid, uint32_t qpn);
/* Waits for the next answer to one of ours. Requests of others are served meanwhile. */
bool verbs_receive_mad(struct verbs_mads* mads, void* mad, uint64_t microseconds);

/* A node that is reached by the ports through which the way goes, the first one the adapter's own. */
struct verbs_route {
    uint8_t hops;
    uint8_t port[HCA_MAD_MAX_HOPS];
};
/* An attribute of subnet management of such a node, HCA_MAD_DATA_SIZE bytes; asks again a few times. \returns whether
 * a response without complaint has come */
bool verbs_get_routed(struct verbs_mads* mads, const struct verbs_route* route, unsigned attribute, uint32_t modifier,
                      uint8_t* data);

#endif
