/* SPDX-License-Identifier: Apache-2.0 */
/* Incoming MSI controller (RISC-V Advanced Interrupt Architecture 1.0, chapter 3). Memory: one page per interrupt file;
 * the pages of one privilege level lie side by side, one a hart. The rest is reached through CSRs: numbers for
 * miselect/mireg and siselect/sireg. */
#ifndef FABRICVP_ABI_IMSIC_H
#define FABRICVP_ABI_IMSIC_H

#include "abi/registers.h"

/* clang-format off */
#define IMSIC_REGISTERS(R)                                                                  \
    R(IMSIC_SETEIPNUM_LE, 0x000, 4, 64, 0x1000) /* write an identity: it becomes pending */ \
    R(IMSIC_SETEIPNUM_BE, 0x004, 4, 64, 0x1000) /* the same in big-endian byte order; unused */
/* clang-format on */

enum { IMSIC_REGISTERS(ABI_OFFSET) };
enum { IMSIC_FILE_STRIDE = 0x1000 };

enum {
    IMSIC_EIDELIVERY = 0x70,  /* 1: interrupts are signalled to the hart */
    IMSIC_EITHRESHOLD = 0x72, /* identities from this one on are not signalled; 0: all are */
    IMSIC_EIP0 = 0x80,        /* pending bits; with XLEN 64 only even numbers, 64 bits each */
    IMSIC_EIE0 = 0xc0         /* enable bits, the same way */
};
/* mtopei and stopei: identity << 16 | priority, which is the identity again. */
enum { IMSIC_TOPEI_IDENTITY_SHIFT = 16, IMSIC_HIGHEST_IDENTITY = 2047 };

#endif
