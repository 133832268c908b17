/* SPDX-License-Identifier: Apache-2.0 */
/* Advanced PLIC (RISC-V Advanced Interrupt Architecture 1.0, chapter 4): one such region an interrupt domain. */
#ifndef FABRICVP_ABI_APLIC_H
#define FABRICVP_ABI_APLIC_H

#include "abi/registers.h"

/* Entry 0 of sourcecfg and target is source 1. Delivery registers (from idelivery on): one set a hart, in domains that
 * signal harts directly. */
/* clang-format off */
#define APLIC_REGISTERS(R)                  \
    R(APLIC_DOMAINCFG, 0x0000, 4, 1, 4)     \
    R(APLIC_SOURCECFG, 0x0004, 4, 1023, 4)  \
    R(APLIC_MMSIADDRCFG, 0x1bc0, 4, 1, 4)   \
    R(APLIC_MMSIADDRCFGH, 0x1bc4, 4, 1, 4)  \
    R(APLIC_SMSIADDRCFG, 0x1bc8, 4, 1, 4)   \
    R(APLIC_SMSIADDRCFGH, 0x1bcc, 4, 1, 4)  \
    R(APLIC_SETIP, 0x1c00, 4, 32, 4)        \
    R(APLIC_SETIPNUM, 0x1cdc, 4, 1, 4)      \
    R(APLIC_IN_CLRIP, 0x1d00, 4, 32, 4)     \
    R(APLIC_CLRIPNUM, 0x1ddc, 4, 1, 4)      \
    R(APLIC_SETIE, 0x1e00, 4, 32, 4)        \
    R(APLIC_SETIENUM, 0x1edc, 4, 1, 4)      \
    R(APLIC_CLRIE, 0x1f00, 4, 32, 4)        \
    R(APLIC_CLRIENUM, 0x1fdc, 4, 1, 4)      \
    R(APLIC_SETIPNUM_LE, 0x2000, 4, 1, 4)   \
    R(APLIC_SETIPNUM_BE, 0x2004, 4, 1, 4)   \
    R(APLIC_GENMSI, 0x3000, 4, 1, 4)        \
    R(APLIC_TARGET, 0x3004, 4, 1023, 4)     \
    R(APLIC_IDELIVERY, 0x4000, 4, 512, 32)  \
    R(APLIC_IFORCE, 0x4004, 4, 512, 32)     \
    R(APLIC_ITHRESHOLD, 0x4008, 4, 512, 32) \
    R(APLIC_TOPI, 0x4018, 4, 512, 32)       \
    R(APLIC_CLAIMI, 0x401c, 4, 512, 32)
/* clang-format on */

enum { APLIC_REGISTERS(ABI_OFFSET) };
enum { APLIC_IDC_STRIDE = 32 };

enum { APLIC_DOMAINCFG_IE = 0x100, APLIC_DOMAINCFG_DM = 0x4 };
#define APLIC_DOMAINCFG_READ_ONLY UINT32_C(0x80000000)
enum {
    APLIC_SOURCECFG_DELEGATE = 0x400,
    APLIC_SOURCE_INACTIVE = 0,
    APLIC_SOURCE_DETACHED = 1,
    APLIC_SOURCE_EDGE1 = 4,
    APLIC_SOURCE_EDGE0 = 5,
    APLIC_SOURCE_LEVEL1 = 6,
    APLIC_SOURCE_LEVEL0 = 7
};
/* target: hart << 18 | identity (MSI delivery) or hart << 18 | priority (direct delivery); genmsi like the former. */
enum { APLIC_TARGET_HART_SHIFT = 18, APLIC_TARGET_IDENTITY = 0x7ff, APLIC_TARGET_PRIORITY = 0xff };
/* mmsiaddrcfgh; smsiaddrcfgh has LHXS and the high part of the page number only. */
enum {
    APLIC_MSIADDR_LHXW_SHIFT = 12,
    APLIC_MSIADDR_HHXW_SHIFT = 16,
    APLIC_MSIADDR_LHXS_SHIFT = 20,
    APLIC_MSIADDR_HHXS_SHIFT = 24,
    APLIC_MSIADDR_PPN_HIGH = 0xfff
};
#define APLIC_MSIADDR_LOCK UINT32_C(0x80000000)
/* topi and claimi: source << 16 | priority. */
enum { APLIC_TOPI_SOURCE_SHIFT = 16 };

#endif
