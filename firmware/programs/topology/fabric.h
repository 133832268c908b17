/* SPDX-License-Identifier: Apache-2.0 */
/* What a sweep of the network has found, from the adapter of this node on. */
#ifndef FABRICVP_PROGRAMS_TOPOLOGY_FABRIC_H
#define FABRICVP_PROGRAMS_TOPOLOGY_FABRIC_H

#include "drivers/verbs/mads.h"

enum { NAME_BYTES = 65 };

struct fabric_node;
struct fabric_port {
    bool up;                  /* more than Down */
    struct fabric_node* peer; /* NULL: no response from there */
    unsigned peer_port;
    unsigned width, speed, extended_speed, lmc; /* as PortInfo has them */
    uint16_t lid;
    uint64_t guid;
};
struct fabric_node {
    struct fabric_node* next; /* in the order in which they were found */
    struct verbs_route route;
    unsigned type, ports, vendor, device; /* type: HCA_NODE_… */
    uint64_t guid, system_guid, port_guid;
    bool knows_extended_speeds;
    char name[NAME_BYTES];
    struct fabric_port* port; /* by number; 0 is a switch's own */
};
struct fabric {
    struct fabric_node *first, *last;
    unsigned nodes, adapters;
};

/* \returns false if the adapter's own agent does not answer */
bool fabric_sweep(struct fabric* fabric, struct verbs_mads* mads);
void fabric_free(struct fabric* fabric);
/* As ibnetdiscover prints it. */
void fabric_print(const struct fabric* fabric);

#endif
