/* SPDX-License-Identifier: Apache-2.0 */
/* Round trips between work-groups of two nodes. */
#ifndef FABRICVP_PROGRAMS_COMPNET_ECHO_H
#define FABRICVP_PROGRAMS_COMPNET_ECHO_H

#include "gpu/kernels/network.h"
#include "programs/compnet/backend.h"

struct echo_options {
    uint64_t min, max;            /* bytes of a message, by powers of two; 8 at least */
    uint64_t rounds, inline_data; /* inline_data: 8 bytes travel in the queue's entry */
    bool bad_address;             /* node 0 puts where nothing is: its requests must fail */
    bool crash;                   /* what serves at node 0's command processor is corrupted meanwhile */
};
enum { ECHO_CRASH_TIMEOUT_NS = 5000000 }; /* of a wait for what will not come */
/* Bytes of payload that a scheme needs for it. */
uint64_t echo_payload(unsigned groups, const struct echo_options* options);
/* \returns whether every byte was as it should be */
bool echo_run(struct backend* backend, struct gpu_queue_handle* queue, const struct echo_options* options);

/* The same messages between kernels, and the same results: of all work-groups together. */
struct stream;
void echo_stream(struct stream* stream, struct backend* backend, const struct network_echo_arguments* arguments,
                 const struct rdma_buffer* results);

#endif
