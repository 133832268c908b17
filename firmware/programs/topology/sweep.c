/* SPDX-License-Identifier: Apache-2.0 */
/* From each switch that has been found, goes on through every port whose link is there. What is behind is known by its
 * GUID. */
#include "lib/heap.h"
#include "lib/machine.h"
#include "programs/topology/fabric.h"

enum { PORT_DOWN = 1, CAN_EXTENDED_SPEEDS = 1 << 14 };

static struct fabric_node* find(const struct fabric* f, uint64_t guid) {
    for (struct fabric_node* n = f->first; n; n = n->next)
        if (n->guid == guid) return n;
    return NULL;
}

static bool read_port(struct fabric_node* n, struct verbs_mads* m, unsigned number) {
    uint8_t info[HCA_MAD_DATA_SIZE];
    struct fabric_port* p = &n->port[number];
    if (!verbs_get_routed(m, &n->route, HCA_MAD_PORT_INFO, number, info)) return false;
    p->up = hca_get(info, HCA_PORT_STATE) > PORT_DOWN;
    p->width = hca_get(info, HCA_PORT_WIDTH_ACTIVE);
    p->speed = hca_get(info, HCA_PORT_SPEED_ACTIVE);
    p->extended_speed = hca_get(info, HCA_PORT_EXTENDED_SPEED_ACTIVE);
    p->lid = (uint16_t)hca_get(info, HCA_PORT_LID);
    p->lmc = hca_get(info, HCA_PORT_LMC);
    if (number == 0 || n->type != HCA_NODE_SWITCH)
        n->knows_extended_speeds = hca_get(info, HCA_PORT_CAPABILITIES) & CAN_EXTENDED_SPEEDS;
    return true;
}

static struct fabric_node* add(struct fabric* f, struct verbs_mads* m, const struct verbs_route* route,
                               const uint8_t* info) {
    uint8_t description[HCA_MAD_DATA_SIZE];
    struct fabric_node* n = heap_allocate(sizeof *n);
    if (!n) panic("topology: no memory");
    *n = (struct fabric_node){.route = *route,
                              .type = hca_get(info, HCA_NODE_TYPE),
                              .ports = hca_get(info, HCA_NODE_PORTS),
                              .vendor = hca_get(info, HCA_NODE_VENDOR),
                              .device = hca_get(info, HCA_NODE_DEVICE),
                              .guid = hca_get_long(info, HCA_NODE_GUID),
                              .system_guid = hca_get_long(info, HCA_NODE_SYSTEM_GUID),
                              .port_guid = hca_get_long(info, HCA_NODE_PORT_GUID)};
    n->port = heap_allocate((n->ports + 1) * sizeof *n->port);
    if (!n->port) panic("topology: no memory");
    memset(n->port, 0, (n->ports + 1) * sizeof *n->port);
    if (verbs_get_routed(m, route, HCA_MAD_NODE_DESCRIPTION, 0, description))
        memcpy(n->name, description, NAME_BYTES - 1);
    if (f->last)
        f->last->next = n;
    else
        f->first = n;
    f->last = n;
    ++f->nodes;
    f->adapters += n->type == HCA_NODE_CHANNEL_ADAPTER;
    return n;
}

/* Behind port `number`. A switch says by which of its ports the request came in. */
static void probe_peer(struct fabric* f, struct verbs_mads* m, struct fabric_node* n, unsigned number) {
    uint8_t info[HCA_MAD_DATA_SIZE];
    struct verbs_route route = n->route;
    if (route.hops == HCA_MAD_MAX_HOPS) return;
    route.port[route.hops++] = (uint8_t)number;
    if (!verbs_get_routed(m, &route, HCA_MAD_NODE_INFO, 0, info)) return;
    struct fabric_node* peer = find(f, hca_get_long(info, HCA_NODE_GUID));
    if (!peer) peer = add(f, m, &route, info);
    const unsigned local = hca_get(info, HCA_NODE_LOCAL_PORT);
    if (local < 1 || local > peer->ports) return;
    n->port[number].peer = peer;
    n->port[number].peer_port = local;
    if (peer->type == HCA_NODE_SWITCH) return;
    read_port(peer, m, local);
    peer->port[local].guid = hca_get_long(info, HCA_NODE_PORT_GUID);
    peer->port[local].peer = n;
    peer->port[local].peer_port = number;
}

bool fabric_sweep(struct fabric* f, struct verbs_mads* m) {
    uint8_t info[HCA_MAD_DATA_SIZE];
    const struct verbs_route here = {0};
    *f = (struct fabric){0};
    if (!verbs_get_routed(m, &here, HCA_MAD_NODE_INFO, 0, info)) return false;
    struct fabric_node* own = add(f, m, &here, info);
    const unsigned local = hca_get(info, HCA_NODE_LOCAL_PORT);
    if (local < 1 || local > own->ports || !read_port(own, m, local)) return false;
    own->port[local].guid = own->port_guid;
    if (own->port[local].up) probe_peer(f, m, own, local);
    for (struct fabric_node* n = own->next; n; n = n->next) {
        if (n->type != HCA_NODE_SWITCH) continue;
        for (unsigned p = 0; p <= n->ports; ++p)
            if (read_port(n, m, p) && p && n->port[p].up) probe_peer(f, m, n, p);
    }
    return true;
}

void fabric_free(struct fabric* f) {
    for (struct fabric_node* n = f->first; n;) {
        struct fabric_node* next = n->next;
        heap_free(n->port);
        heap_free(n);
        n = next;
    }
    *f = (struct fabric){0};
}
