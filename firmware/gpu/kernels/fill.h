/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs that follow from an index, so that lanes can make them and the host knows them. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_FILL_H
#define FABRICVP_GPU_KERNELS_FILL_H

#include "gpu/kernels/arguments.h"
#include "gpu/kernels/random.h"

enum fill_kind {
    FILL_CONSTANT, /* the word `seed` */
    FILL_INDEX64,  /* 64-bit words that hold their index */
    FILL_HASH,     /* 32 random bits */
    FILL_INTEGER,  /* floats: whole numbers from -range/2 on, `range` of them */
    FILL_UNIFORM   /* floats: -1 ≤ x < 1 in steps of 2^-23, times `scale` */
};

struct fill_arguments {
    POINTER(uint32_t) to;
    uint64_t words;
    uint64_t seed;
    uint32_t kind, range;
    float scale;
};

/* 0 … n - 1 from 64 random bits. */
static inline uint32_t fill_below(uint64_t random, uint32_t n) { return (uint32_t)((random >> 32) * n >> 32); }

static inline float fill_integer(uint64_t seed, uint64_t i, uint32_t range) {
    return (float)((int32_t)fill_below(hash64(seed + i), range) - (int32_t)(range / 2));
}

static inline float fill_uniform(uint64_t seed, uint64_t i, float scale) {
    return (float)((int32_t)(hash64(seed + i) >> 40) - (1 << 23)) * 0x1p-23f * scale;
}

#endif
