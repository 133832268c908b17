/* SPDX-License-Identifier: Apache-2.0 */
/* What a running kernel sees of data that RDMA writes: what it is told and what it tells. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_ORDERING_H
#define FABRICVP_GPU_KERNELS_ORDERING_H

#include "arguments.h"

/* How data are read once the flag has been seen (bypassing L1). */
enum ordering_read {
    ORDERING_PLAIN,   /* through L1 */
    ORDERING_ACQUIRE, /* through L1, emptied before */
    ORDERING_BYPASS   /* bypassing L1 */
};
/* What tells that data have come. */
enum ordering_flag {
    ORDERING_SAME_WRITE,     /* the last 8 bytes of the same write: the round, and above it the CRC */
    ORDERING_SEPARATE_WRITE, /* the same by a write of its own, to another line */
    ORDERING_COMPLETION      /* a completion with immediate data, which are the CRC */
};

enum { ORDERING_READER_UNIT = 0 }; /* the compute unit that looks; it has no load */

struct ordering_result {
    uint32_t rounds;
    uint32_t wrong;   /* rounds in which words were not those of the round */
    uint32_t stale;   /* of them: L1 had kept older ones, and past it the words were right */
    uint32_t early;   /* of them: they had not come yet, while the flag had */
    uint32_t words;   /* that were wrong */
    uint32_t found;   /* wrong rounds that the CRC found */
    uint32_t missed;  /* wrong rounds that it did not */
    uint32_t alarms;  /* right rounds that it called wrong */
    uint32_t tries;   /* reads until all words were right, beyond the first of each round */
    uint32_t aborted; /* 1: the flag did not come, the words never became right, or this is not ORDERING_READER_UNIT */
    uint64_t acquiring, reading, repairing; /* cycles, summed over rounds */
};

struct ordering_arguments {
    POINTER(const uint32_t) data;
    POINTER(const uint64_t) flag; /* ORDERING_COMPLETION: the completion queue */
    POINTER(uint64_t) done;       /* the last round that has been looked at: the writer waits for it */
    POINTER(struct ordering_result) result;
    POINTER(const uint32_t) load; /* what other work-groups read all the while, a line every `stride` bytes */
    POINTER(uint32_t) stop;       /* 1: they end */
    uint32_t words, rounds;
    uint32_t flag_kind, read, check; /* check 1: computes the CRC */
    uint32_t completions;            /* of the queue */
    uint32_t stride, lines;          /* of `load` */
    uint32_t polls, reserved;        /* looks at the flag before it gives up */
};

/* Word `index` of a round. */
static inline uint32_t ordering_word(uint32_t round, uint32_t index) {
    return (index + 1) * UINT32_C(0x9e3779b1) ^ round * UINT32_C(0x85ebca77);
}

#endif
