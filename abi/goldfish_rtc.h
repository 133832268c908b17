/* SPDX-License-Identifier: Apache-2.0 */
/* Goldfish real-time clock: nanoseconds since the epoch. Reading TIME_LOW latches TIME_HIGH; writing ALARM_LOW arms. */
#ifndef FABRICVP_ABI_GOLDFISH_RTC_H
#define FABRICVP_ABI_GOLDFISH_RTC_H

#include "abi/registers.h"

/* clang-format off */
#define RTC_REGISTERS(R)               \
    R(RTC_TIME_LOW, 0x00, 4, 1, 4)     \
    R(RTC_TIME_HIGH, 0x04, 4, 1, 4)    \
    R(RTC_ALARM_LOW, 0x08, 4, 1, 4)    \
    R(RTC_ALARM_HIGH, 0x0c, 4, 1, 4)   \
    R(RTC_IRQ_ENABLED, 0x10, 4, 1, 4)  \
    R(RTC_CLEAR_ALARM, 0x14, 4, 1, 4)  \
    R(RTC_ALARM_STATUS, 0x18, 4, 1, 4) \
    R(RTC_CLEAR_INTERRUPT, 0x1c, 4, 1, 4)
/* clang-format on */

enum { RTC_REGISTERS(ABI_OFFSET) };

#endif
