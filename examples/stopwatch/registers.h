/* SPDX-License-Identifier: Apache-2.0 */
/* What the stopwatch looks like to software; the model and the firmware both include it. */
#ifndef STOPWATCH_REGISTERS_H
#define STOPWATCH_REGISTERS_H

#define STOPWATCH_SIZE 0x1000 /* of its registers; where they are says the device tree */

#define STOPWATCH_CONTROL 0x00 /* bit 0: running */
#define STOPWATCH_ELAPSED 0x08 /* 64 bits, read-only: nanoseconds it has run */
#define STOPWATCH_ALARM 0x10   /* 64 bits: interrupt when that many nanoseconds have elapsed; 0: never */
#define STOPWATCH_STATUS 0x18  /* bit 0: the alarm rang; write 1 to clear */

#define SCRATCHPAD_BASE 0x20010000
#define SCRATCHPAD_SIZE 0x1000

#endif
