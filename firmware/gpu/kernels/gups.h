/* SPDX-License-Identifier: Apache-2.0 */
/* Random updates of a table, as HPCC RandomAccess defines them. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_GUPS_H
#define FABRICVP_GPU_KERNELS_GUPS_H

#include "gpu/kernels/arguments.h"

struct gups_arguments { /* table[a & mask] ^= a for `updates` numbers a of a lane's part of the stream */
    POINTER(uint64_t) table;
    POINTER(const uint64_t) start; /* a lane: the number before its first one */
    uint64_t mask;                 /* entries - 1 */
    uint64_t updates;              /* a lane */
};

/* The stream: a shift register with feedback over the polynomial x^63 + x^2 + x + 1. */
enum { GUPS_POLYNOMIAL = 7 };
static inline uint64_t gups_next(uint64_t a) { return a << 1 ^ ((int64_t)a < 0 ? GUPS_POLYNOMIAL : 0); }

#endif
