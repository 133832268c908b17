/* SPDX-License-Identifier: Apache-2.0 */
/* What driver.c, @NAME@.py and model.cpp agree on. */
#define DEVICE_VENDOR 0x1234
#define DEVICE_ID 0x5a0e
#define DEVICE_CLASS 0x120000 /* processing accelerator */

/* BAR 0 */
#define DEVICE_SIZE 0x1000
#define DEVICE_SOURCE 0x00      /* host address of 64-bit numbers */
#define DEVICE_DESTINATION 0x08 /* where their squares go */
#define DEVICE_COUNT 0x10       /* 1 to 65,536 */
#define DEVICE_STATUS 0x14      /* writing ones clears; writing START starts */
enum { DEVICE_START = 1, DEVICE_DONE = 2, DEVICE_FAILED = 4 };
