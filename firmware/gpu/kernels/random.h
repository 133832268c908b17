/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_GPU_KERNELS_RANDOM_H
#define FABRICVP_GPU_KERNELS_RANDOM_H

#include <stdint.h>

/* The mixing function of splitmix64: host and lanes draw the same numbers. */
static inline uint64_t hash64(uint64_t z) {
    z = (z + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

#endif
