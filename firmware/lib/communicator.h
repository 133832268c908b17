/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes that work together, and which of them this one is. Plain C99, for harts and lanes. */
#ifndef FABRICVP_LIB_COMMUNICATOR_H
#define FABRICVP_LIB_COMMUNICATOR_H

#include <stdint.h>

struct communicator {
    uint32_t rank, size; /* rank: 0 to size - 1 */
};

#endif
