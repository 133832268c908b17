/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that tell where they belong: every offset of every seed has its own. */
#ifndef FABRICVP_LIB_PATTERN_H
#define FABRICVP_LIB_PATTERN_H

#include "lib/libc.h"

static inline uint64_t pattern_word(uint64_t seed, size_t index) {
    const uint64_t x = (index + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ seed * UINT64_C(0xd1342543de82ef95);
    return x ^ x >> 29;
}

/* Pointers are aligned to 8 bytes; any number of bytes. */
static inline void pattern_write(void* to, size_t bytes, uint64_t seed) {
    uint64_t* words = (uint64_t*)to;
    for (size_t i = 0; i < bytes / 8; ++i) words[i] = pattern_word(seed, i);
    if (bytes % 8) {
        const uint64_t last = pattern_word(seed, bytes / 8);
        memcpy(words + bytes / 8, &last, bytes % 8);
    }
}

/* True if all bytes are those of the pattern. */
static inline bool pattern_check(const void* from, size_t bytes, uint64_t seed) {
    const uint64_t* words = (const uint64_t*)from;
    uint64_t difference = 0;
    for (size_t i = 0; i < bytes / 8; ++i) difference |= words[i] ^ pattern_word(seed, i);
    if (bytes % 8) {
        uint64_t last = 0;
        memcpy(&last, words + bytes / 8, bytes % 8);
        difference |= (last ^ pattern_word(seed, bytes / 8)) << (64 - bytes % 8 * 8);
    }
    return difference == 0;
}

#endif
