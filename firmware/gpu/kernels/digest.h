/* SPDX-License-Identifier: Apache-2.0 */
/* Two sums over each block of words, one of them weighted by position: one wrong word always shows. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_DIGEST_H
#define FABRICVP_GPU_KERNELS_DIGEST_H

#include "gpu/kernels/arguments.h"

enum { DIGEST_BLOCK = 4096, DIGEST_GROUP = 256 };
struct digest {
    uint64_t sum, weighted; /* Σ w, Σ w·(index in the block + 1), modulo 2^64 */
};

struct digest_arguments {
    POINTER(const uint32_t) from;
    POINTER(struct digest) to; /* one a block */
    uint64_t words;
};

#endif
