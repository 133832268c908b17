/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32 (the one of Ethernet and zlib) by all work-items of a work-group, to find out whether data that a device
 * writes have all come: the sender sends the CRC along.
 *
 *     LDS struct crc32 crc;
 *     const uint32_t place = crc32_prepare(&crc, words);       // once for all data of that length
 *     uint32_t part = 0;                                       // each work-item, of words i, i + group_size, …
 *     for (uint32_t i = local_id(0); i < words; i += group_size(0)) part = crc32_word(&crc, part, data[i]);
 *     if (crc32_of_group(&crc, place, part) != wanted) …       // the same for all work-items
 *
 * A word may be used for something else, too, so that what is checked is what is used, not what is there a moment
 * later. */
#ifndef FABRICVP_GPU_CRC32_H
#define FABRICVP_GPU_CRC32_H

#include "gpu.h"

/* Polynomials over GF(2) modulo that of the CRC; bit 31 is the coefficient of x^0. */
#define CRC32_POLYNOMIAL UINT32_C(0xedb88320)
#define CRC32_ONE UINT32_C(0x80000000)
#define CRC32_X32 UINT32_C(0xedb88320) /* x^32 */

/* In the local data share. */
struct crc32 {
    uint32_t step[8][16]; /* [n][v]: v << 4n, times x^32 for each work-item of the group */
    uint32_t begin;       /* of all sums: what the CRC begins with, times x^32 for each word */
    uint32_t sum;
};

GPU_INLINE uint32_t crc32_times(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (unsigned bit = 0; bit < 32; ++bit, a <<= 1) { /* no branches: lanes stay together */
        product ^= b & (uint32_t)((int32_t)a >> 31);
        b = b >> 1 ^ (CRC32_POLYNOMIAL & -(b & 1));
    }
    return product;
}

/* x^(32 n) */
GPU_INLINE uint32_t crc32_words(uint32_t n) {
    uint32_t power = CRC32_ONE;
    for (uint32_t square = CRC32_X32; n; n >>= 1) {
        if (n & 1) power = crc32_times(power, square);
        if (n > 1) square = crc32_times(square, square);
    }
    return power;
}

/* To be called by all work-items, whose number must stay the same. \returns the place of a work-item's part in the sum
 */
GPU_INLINE uint32_t crc32_prepare(struct crc32* c, uint32_t words) {
    const uint32_t id = (uint32_t)local_id(0), size = (uint32_t)group_size(0), step = crc32_words(size);
    for (uint32_t i = id; i < 128; i += size) c->step[i / 16][i % 16] = crc32_times(i % 16 << i / 16 * 4, step);
    if (id == 0) c->begin = crc32_times(~UINT32_C(0), crc32_words(words));
    barrier();
    return id < words ? crc32_words(words - id - (words - 1 - id) / size * size) : 0;
}

/* A work-item's part with its next word. */
GPU_INLINE uint32_t crc32_word(const struct crc32* c, uint32_t part, uint32_t word) {
    uint32_t moved = 0;
    for (unsigned n = 0; n < 8; ++n) moved ^= c->step[n][part >> 4 * n & 15];
    return moved ^ word;
}

/* The CRC of all words, of which each work-item has taken its part; to be called by all. */
GPU_INLINE uint32_t crc32_of_group(struct crc32* c, uint32_t place, uint32_t part) {
    barrier();
    if (local_id(0) == 0) c->sum = c->begin;
    barrier();
    (void)atomic_xor_u32(&c->sum, crc32_times(place, part));
    barrier();
    return ~c->sum;
}

#endif
