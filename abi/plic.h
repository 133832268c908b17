/* SPDX-License-Identifier: Apache-2.0 */
/* Platform-level interrupt controller (RISC-V PLIC 1.0.0). Contexts: machine and supervisor mode of hart 0, then of
 * hart 1, and so on. */
#ifndef FABRICVP_ABI_PLIC_H
#define FABRICVP_ABI_PLIC_H

#include "abi/registers.h"

/* clang-format off */
#define PLIC_REGISTERS(R)                       \
    R(PLIC_PRIORITY, 0x000000, 4, 97, 4)        \
    R(PLIC_PENDING, 0x001000, 4, 4, 4)          \
    R(PLIC_ENABLE, 0x002000, 4, 128 * 32, 4)    \
    R(PLIC_THRESHOLD, 0x200000, 4, 128, 0x1000) \
    R(PLIC_CLAIM, 0x200004, 4, 128, 0x1000)
/* clang-format on */

enum { PLIC_REGISTERS(ABI_OFFSET) };
enum { PLIC_ENABLE_STRIDE = 0x80, PLIC_CONTEXT_STRIDE = 0x1000, PLIC_HIGHEST_PRIORITY = 7 };

#endif
