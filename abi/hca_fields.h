/* SPDX-License-Identifier: Apache-2.0 */
/* Big-endian fields of an HCA's registers, mailboxes, contexts, work queue entries and completions. A field is one
 * constant that tells where it stands: the offset of its double word, its lowest bit there (31 is the first on the
 * wire), its width. */
#ifndef FABRICVP_ABI_HCA_FIELDS_H
#define FABRICVP_ABI_HCA_FIELDS_H

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

/* By the big-endian double word at `offset`, a byte at `offset`, or a half word at `offset`; bits count inside of
 * these. */
#define HCA_FIELD(offset, low, width) ((offset) << 16 | (low) << 8 | (width))
#define HCA_BYTE(offset, low, width) HCA_FIELD((offset) & ~3, (low) + 8 * (3 - ((offset)&3)), width)
#define HCA_HALF(offset, low, width) HCA_FIELD((offset) & ~3, (low) + 8 * (2 - ((offset)&3)), width)
#define HCA_WORD(offset) HCA_FIELD(offset, 0, 32)

static inline uint32_t hca_get32(const void* from) {
    const uint8_t* b = (const uint8_t*)from;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static inline void hca_put32(void* to, uint32_t value) {
    uint8_t* b = (uint8_t*)to;
    b[0] = (uint8_t)(value >> 24);
    b[1] = (uint8_t)(value >> 16);
    b[2] = (uint8_t)(value >> 8);
    b[3] = (uint8_t)value;
}

static inline uint64_t hca_get64(const void* from) {
    const uint8_t* b = (const uint8_t*)from;
    return (uint64_t)hca_get32(b) << 32 | hca_get32(b + 4);
}

static inline void hca_put64(void* to, uint64_t value) {
    uint8_t* b = (uint8_t*)to;
    hca_put32(b, (uint32_t)(value >> 32));
    hca_put32(b + 4, (uint32_t)value);
}

static inline uint32_t hca_mask(unsigned width) { return width >= 32 ? 0xffffffffu : (1u << width) - 1; }

/* The field of the structure that begins at `base`. */
static inline uint32_t hca_get(const void* base, unsigned field) {
    return hca_get32((const uint8_t*)base + (field >> 16)) >> (field >> 8 & 31) & hca_mask(field & 63);
}

static inline void hca_set(void* base, unsigned field, uint32_t value) {
    uint8_t* at = (uint8_t*)base + (field >> 16);
    const unsigned low = field >> 8 & 31;
    const uint32_t mask = hca_mask(field & 63);
    hca_put32(at, (hca_get32(at) & ~(mask << low)) | (value & mask) << low);
}

/* 64-bit words by their offset. */
static inline uint64_t hca_get_long(const void* base, unsigned offset) {
    return hca_get64((const uint8_t*)base + offset);
}
static inline void hca_set_long(void* base, unsigned offset, uint64_t value) {
    hca_put64((uint8_t*)base + offset, value);
}

#endif
