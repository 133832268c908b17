/* SPDX-License-Identifier: Apache-2.0 */
/* How programs of several nodes begin and end, and what they are asked to do: `key=number` on the kernel command line.
 * Node 0 tells the others; only `nodes`, which is the first option of all, every node needs. What cannot be is refused
 * (machine.h). */
#ifndef FABRICVP_HOST_RDMA_OPTIONS_H
#define FABRICVP_HOST_RDMA_OPTIONS_H

#include "host/rdma/communicator.h"

struct option {
    const char* key;
    uint64_t value, min, max; /* most 0: no limit */
};

/* Reads options, finds the other nodes, lets node 0 check what bounds do not say, and gives its options to everybody.
 */
void program_begin(struct communicator* comm, struct option* options, unsigned count, void (*check)(void));
/* Says whether all was right. \returns the status of main() */
int program_end(bool ok);

/* What may stand in one option follows from others. */
void option_max(const struct option* option, uint64_t max, const char* why);
void option_multiple(const struct option* option, uint64_t of, const char* what);
void option_power(const struct option* option);
/* Not 0 only where it has an effect. */
void option_only(const struct option* option, bool possible, const char* where);

#endif
