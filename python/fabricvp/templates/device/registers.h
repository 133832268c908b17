/* SPDX-License-Identifier: Apache-2.0 */
/* What driver.c, @NAME@.py and model.cpp agree on. */
#define DEVICE_BASE 0x20000000
#define DEVICE_IRQ 40 /* input of the interrupt controller */

#define DEVICE_SIZE 0x1000

#define DEVICE_OPERAND 0x0 /* writing starts a computation */
#define DEVICE_RESULT 0x8  /* valid when the interrupt has come */
#define DEVICE_STATUS 0x10 /* 1: done; writing 1 clears it and the interrupt */
