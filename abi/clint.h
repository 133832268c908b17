/* SPDX-License-Identifier: Apache-2.0 */
/* Core-local interruptor (SiFive CLINT; ACLINT MSWI and MTIMER devices in one window). */
#ifndef FABRICVP_ABI_CLINT_H
#define FABRICVP_ABI_CLINT_H

#include "abi/registers.h"

/* clang-format off */
#define CLINT_REGISTERS(R)                \
    R(CLINT_MSIP, 0x0000, 4, 4095, 4)     \
    R(CLINT_MTIMECMP, 0x4000, 8, 4095, 8) \
    R(CLINT_MTIME, 0xbff8, 8, 1, 8)
/* clang-format on */

enum { CLINT_REGISTERS(ABI_OFFSET) };

#endif
