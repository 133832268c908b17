/* SPDX-License-Identifier: Apache-2.0 */
/* Constants that assembly, linker script and C share. */
#ifndef FABRICVP_LIB_LAYOUT_H
#define FABRICVP_LIB_LAYOUT_H

#define MAX_HARTS 64
#define STACK_SHIFT 13
#define TRAP_FRAME_SIZE 256

#endif
