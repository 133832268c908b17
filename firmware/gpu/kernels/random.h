/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_GPU_KERNELS_RANDOM_H
#define FABRICVP_GPU_KERNELS_RANDOM_H

#include <stdint.h>

/* A program may name a variable that shifts all that it draws, so that seeds give inputs of their own. Lanes know
 * nothing of it: the host adds it to what it hands them (random_for_lanes()). */
#ifdef RANDOM_SHIFT
extern uint64_t RANDOM_SHIFT;
#else
enum { RANDOM_SHIFT = 0 };
#endif

/* What lanes hash where the host hashes z. */
static inline uint64_t random_for_lanes(uint64_t z) { return z + RANDOM_SHIFT; }

/* The mixing function of splitmix64: host and lanes draw the same numbers. */
static inline uint64_t hash64(uint64_t z) {
    z = (z + RANDOM_SHIFT + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

#endif
