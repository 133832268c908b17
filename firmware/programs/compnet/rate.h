/* SPDX-License-Identifier: Apache-2.0 */
/* Messages from work-groups of one node to another, without replies. */
#ifndef FABRICVP_PROGRAMS_COMPNET_RATE_H
#define FABRICVP_PROGRAMS_COMPNET_RATE_H

#include "programs/compnet/backend.h"

struct rate_options {
    uint64_t min, max;              /* bytes of a message, by powers of two; 8 at least */
    uint64_t messages, inline_data; /* messages: of each work-group; inline_data: 8 bytes travel in the queue's entry */
    bool crash;                     /* what serves at node 0's command processor is corrupted meanwhile */
};
enum { RATE_MAX_BYTES = 64 << 20 }; /* of payload */
/* Bytes of payload that a scheme needs for it. */
uint64_t rate_payload(unsigned groups, const struct rate_options* options);
/* \returns whether every byte was as it should be */
bool rate_run(struct backend* backend, struct gpu_queue_handle* queue, const struct rate_options* options);

#endif
