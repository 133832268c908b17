/* SPDX-License-Identifier: Apache-2.0 */
/* Work queue entries, completions and doorbells in whole words, for all that post and poll: drivers on the host, lanes
 * of a GPU. A word here holds two double words of hca_queues.h as they stand in memory, the first in its lower half. */
#ifndef FABRICVP_ABI_HCA_POST_H
#define FABRICVP_ABI_HCA_POST_H

#include "abi/hca.h"
#include "abi/hca_queues.h"

static inline uint32_t hca_swap32(uint32_t v) {
#if defined(__riscv) && !defined(__riscv_zbb) /* the compiler would call a library */
    v = (v & 0x00ff00ffu) << 8 | (v >> 8 & 0x00ff00ffu);
    return v << 16 | v >> 16;
#else
    return __builtin_bswap32(v);
#endif
}

static inline uint64_t hca_swap64(uint64_t v) {
#if defined(__riscv) && !defined(__riscv_zbb)
    return (uint64_t)hca_swap32((uint32_t)v) << 32 | hca_swap32((uint32_t)(v >> 32));
#else
    return __builtin_bswap64(v);
#endif
}

static inline uint64_t hca_pack(uint32_t first, uint32_t second) { return hca_swap64((uint64_t)first << 32 | second); }

/* Words of a work queue entry. */
enum {
    HCA_WORD_NEXT = 0,    /* to the entry behind: hca_next_segment() */
    HCA_WORD_FLAGS = 1,   /* of this one: hca_flags() */
    HCA_WORD_SEGMENTS = 2 /* segments */
};

/* What an entry says of the one behind it. \param offset in the buffer of the queue, a multiple of 64 \param size in 16
 * bytes */
static inline uint64_t hca_next_segment(uint32_t offset, unsigned opcode, unsigned fence, unsigned size) {
    return hca_pack(offset | opcode, 0x80 | fence << 6 | size);
}
static inline uint64_t hca_flags(unsigned signalled, unsigned solicited, uint32_t immediate) {
    return hca_pack(1 | solicited << 1 | signalled << 3, immediate);
}
/* The same for queue pairs 0 and 1. \param management on virtual lane 15 \param lid where it goes; 0xffff: the source
 * LID stays that, too */
static inline uint64_t hca_raw_flags(unsigned management, uint16_t lid, unsigned service_level) {
    return hca_pack(1 | 1 << 3 | service_level << 8 | (lid == 0xffff ? 1u << 16 : 0) | management << 17,
                    (uint32_t)lid << 16);
}
/* Second word of a remote address segment; the first is hca_swap64(address). */
static inline uint64_t hca_remote_key(uint32_t rkey) { return hca_pack(rkey, 0); }
/* First word of a data segment; the second is hca_swap64(address). */
static inline uint64_t hca_data(uint32_t bytes, uint32_t lkey) { return hca_pack(bytes, lkey); }
/* The double word before inline data, which follow it at once; all is padded to 16 bytes. */
static inline uint32_t hca_inline(uint32_t bytes) { return hca_swap32(0x80000000u | bytes); }

/* What HCA_UAR_SEND takes. \param index counter of the send queue before these entries \param opcode, fence, size of
 * the first */
static inline uint64_t hca_send_doorbell(uint32_t qpn, unsigned count, uint16_t index, unsigned opcode, unsigned fence,
                                         unsigned size) {
    return hca_pack(count << 24 | (uint32_t)index << 8 | fence << 5 | opcode, qpn << 8 | size);
}
/* What HCA_UAR_CQ takes. \param command HCA_ARM_NEXT or HCA_ARM_SOLICITED */
static inline uint64_t hca_arm_doorbell(uint32_t cqn, unsigned sequence, unsigned command, uint32_t consumer) {
    return hca_pack((sequence & 3) << 28 | command << 24 | cqn, consumer);
}
/* A doorbell record. Arming has its sequence and command in the lowest bits of `number`'s word. */
static inline uint64_t hca_doorbell_record(uint32_t count, uint32_t number, unsigned type, unsigned low) {
    return hca_pack(count, number << 8 | type << 5 | low);
}

/* The last word of a completion holds its owner. */
enum { HCA_CQE_WORDS = HCA_CQE_SIZE / 8, HCA_CQE_LAST = HCA_CQE_WORDS - 1 };
static inline int hca_cqe_software_owned(uint64_t last_word) { return !(last_word >> 63); }
#define HCA_CQE_HARDWARE_OWNED (UINT64_C(1) << 63)

#endif
