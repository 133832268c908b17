/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that use the network themselves: their arguments. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_NETWORK_H
#define FABRICVP_GPU_KERNELS_NETWORK_H

#include "abi/network_queue.h"
#include "arguments.h"
#include "network/schedule.h"

struct network_group_result { /* what a work-group tells */
    uint32_t failed;          /* status of the request that failed, or NETWORK_FAILED if nothing was heard; 0: none */
    uint32_t rounds;          /* that were completed */
    uint64_t nanoseconds;     /* of all but the first `warmup_rounds` ones */
};

/* Each work-group and its counterpart on another node send each other messages in turn. A message's last 8 bytes are
 * the round's number; its other bytes stay as the host has written them. */
struct network_echo_arguments {
    POINTER(struct network_access) access; /* one a work-group */
    POINTER(struct network_group_result) results;
    uint64_t local, remote;  /* of each work-group: `pitch` bytes that are sent, and as many that come */
    uint64_t pitch, timeout; /* nanoseconds */
    uint32_t bytes, rounds, warmup_rounds, peer;
    uint32_t initiator, inline_data; /* whether this node says the first word; whether 8 bytes travel in the entry */
};

/* Work-groups that send one message after the other, and wait for none until all are under way. */
struct network_rate_arguments {
    POINTER(struct network_access) access; /* one a work-group */
    POINTER(struct network_group_result) results;
    uint64_t local, remote; /* of each message: `pitch` bytes that are sent, and as many that come */
    uint64_t pitch;
    uint32_t bytes, messages;   /* messages: of a work-group. Their last 8 bytes count from 1 on */
    uint32_t peer, inline_data; /* inline_data: 8 bytes travel in the entry */
};

/* Jacobi's method on rows of a grid: nodes have rows in order, and each a row of halo at both ends. The border of the
 * whole grid stays. What nodes tell each other has the iteration's number in its upper half. */
enum { JACOBI_GROUP = 256 };
struct jacobi_flags {            /* in each node's memory, written by others */
    uint64_t halo[2];            /* a row has come from above, from below */
    struct collective_flags all; /* of the all-reduce of the greatest change, a float */
};
/* Bits of floats that are not negative compare as they do. */
static inline uint32_t jacobi_bits(float change) {
    const union {
        float value;
        uint32_t bits;
    } u = {change};
    return u.bits;
}
struct jacobi_sync { /* of all work-groups */
    uint32_t arrived, released;
    uint32_t failed; /* status of the request that failed */
    uint32_t reserved;
    uint32_t change[2]; /* by iteration's parity: the greatest so far, a float's bits */
};
struct network_jacobi_arguments {
    POINTER(struct network_access) access; /* the first work-group's and the last one's */
    POINTER(struct jacobi_sync) sync;
    POINTER(uint32_t) change;         /* by iteration: that of all */
    struct network_segments segments; /* their memory: struct jacobi_flags */
    uint64_t grid[2];           /* floats, rows + 2 of them `columns` long: read in odd iterations, in even ones */
    uint64_t timeout;           /* nanoseconds */
    uint64_t remote_grid[2][2]; /* of the nodes above and below */
    uint32_t rows, columns;     /* rows: a multiple of the number of work-groups */
    uint32_t first, iterations;
    uint32_t uses_network, last_word; /* uses_network 0: the host does it */
    POINTER(uint64_t)
    words; /* others that read the GPU's memory: in the first they find what the all-reduce wants of this node; 0:
              nowhere */
    POINTER(uint64_t)
    seen; /* word of another one: with words[last_word], `change` of the iteration before the first is complete; 0:
             nothing */
};

/* Work-groups that read a buffer, whose words hold their own index, as fast as they can. */
enum { STREAM_GROUP = 256 };
struct network_stream_result {
    uint32_t passes, wrong;
};
struct network_stream_arguments {
    POINTER(const uint64_t) from;
    POINTER(uint32_t) stop;
    POINTER(struct network_stream_result) found;
    uint64_t words; /* a multiple of 8 * STREAM_GROUP * work-groups */
};

/* What stands between kernels where queues send messages by packets. */
struct network_mark_arguments {
    uint64_t local, pitch; /* as of network_echo */
    uint64_t bytes, round;
};
struct network_compare_arguments {
    POINTER(uint64_t) mine; /* words of the all-reduce, as in struct collective_flags */
    POINTER(uint64_t) seen;
    POINTER(uint64_t) next; /* the greater one, for the next step */
    uint32_t iteration, reserved;
};

/* An all-reduce of floats: each work-group, with its counterparts on all other nodes, sums a part of the vector. */
enum { REDUCE_GROUP = 256, REDUCE_BARRIERS = 4 };
struct network_reduce_result { /* what a work-group tells */
    uint32_t failed;           /* whether a request failed or a wait timed out */
    uint32_t rounds;           /* that were completed */
    uint64_t barriers, sums;   /* nanoseconds: of REDUCE_BARRIERS, of all rounds */
};
struct network_reduce_arguments {
    POINTER(struct network_access) access; /* one a work-group */
    POINTER(struct network_reduce_result) results;
    struct network_segments segments; /* their memory: the vector, places for what is to be added, and struct
                                 collective_flags for each work-group */
    uint64_t elements;
    uint64_t staging, pitch, flags; /* offsets, and bytes from one place to the next */
    uint64_t timeout;               /* nanoseconds */
    uint32_t algorithm, rounds;     /* enum collective_algorithm */
};

/* The same with the host in between: it moves, and kernels add. */
struct network_combine_arguments {
    POINTER(float) to;
    POINTER(const float) other;
    uint64_t elements;
};

#endif
