/* SPDX-License-Identifier: Apache-2.0 */
/* SiFive test finisher: ends or restarts the machine. */
#ifndef FABRICVP_ABI_FINISHER_H
#define FABRICVP_ABI_FINISHER_H

#include "abi/registers.h"

#define FINISHER_REGISTERS(R) R(FINISHER_COMMAND, 0x0, 4, 1, 4)

enum { FINISHER_REGISTERS(ABI_OFFSET) };
/* Low half of the command; for FAIL the high half is the guest's status. */
enum { FINISHER_FAIL = 0x3333, FINISHER_PASS = 0x5555, FINISHER_RESET = 0x7777 };
/* The status of a guest that refuses what it was asked for; its last line on the console says what and why. */
enum { FINISHER_REFUSED = 2 };

#endif
