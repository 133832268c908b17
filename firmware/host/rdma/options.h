/* SPDX-License-Identifier: Apache-2.0 */
/* What a program is asked to do: `key=number` on the kernel command line. Node 0 tells the others; only `nodes`, which comes
 * first, every node needs. */
#ifndef FABRICVP_HOST_RDMA_OPTIONS_H
#define FABRICVP_HOST_RDMA_OPTIONS_H

#include "host/rdma/party.h"

struct option {
    const char* key;
    uint64_t value, least, most; /* most 0: no limit */
};

/* Panics where something is no number or out of bounds. */
void options_read(struct option* options, unsigned count);
/* Everybody has node 0's. */
void options_share(struct party* party, struct option* options, unsigned count);

#endif
