/* SPDX-License-Identifier: Apache-2.0 */
/* What a command processor does is a table of services; every hart runs all of them, in this order, one step each. */
#ifndef FABRICVP_CP_SERVICE_H
#define FABRICVP_CP_SERVICE_H

#include <stdint.h>

/* What a hart has to do next. */
enum work {
    WORK_NONE,  /* nothing before the next event */
    WORK_WAITS, /* nothing now, and what it waits for makes no event */
    WORK_DONE   /* perhaps more */
};

struct service {
    uint32_t events; /* enum gpu_event: those that it hears */
    /* Called once on each hart, before any other. May be null, as take(). */
    void (*start)(unsigned hart);
    /* Takes events, of which at least one is its own. What the host asked for is cleared already, the rest is for it to
     * clear. */
    void (*handle)(unsigned hart, uint32_t events);
    /* Does one piece of work. */
    enum work (*step)(unsigned hart);
};

extern const struct service dispatch_service;      /* cp/queue.c: kernels from user-mode queues */
extern const struct service network_service_entry; /* cp/network.c: requests of work-groups for the network */

/* This hart is at its end: work-groups that ask it for something hear of that. */
void network_service_abort(unsigned hart);

#endif
