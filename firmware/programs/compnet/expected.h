/* SPDX-License-Identifier: Apache-2.0 */
/* What an all-reduce begins with and what must come out, in the order of additions that network/schedule.h states. */
#ifndef FABRICVP_PROGRAMS_COMPNET_EXPECTED_H
#define FABRICVP_PROGRAMS_COMPNET_EXPECTED_H

#include <stddef.h>

#include "network/schedule.h"

enum { EXPECTED_PERIOD = 1009 }; /* elements repeat after so many; a prime, so that no part begins where another does */

struct expected {
    unsigned nodes;
    float begin[EXPECTED_PERIOD];                  /* node r's element i is begin[expected_phase(i, r)] */
    float sum[NETWORK_MAX_PEERS][EXPECTED_PERIOD]; /* by part of the vector and phase on node 0 */
};
/* \param rounds all-reduces one after the other */
void expected_make(struct expected* e, enum collective_algorithm algorithm, unsigned nodes, unsigned rounds);

static inline unsigned expected_phase(uint64_t element, unsigned rank) {
    return (unsigned)((element * 7919 + rank * UINT64_C(104729)) % EXPECTED_PERIOD);
}
/* Elements `first` … of node `rank`, as they are at the beginning. */
void expected_begin(const struct expected* e, unsigned rank, uint64_t first, float* to, size_t count);
/* \returns whether elements `first` … of part `part` are right, to the bit */
bool expected_is(const struct expected* e, unsigned chunk, uint64_t first, const float* found, size_t count);

#endif
