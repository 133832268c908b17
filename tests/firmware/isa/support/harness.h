/* SPDX-License-Identifier: Apache-2.0 */
/* Frame of generated programs: gp holds the number of the test, tp the name of its group. */
#pragma once

/* clang-format off */
.macro TEST_BEGIN
    .text
    .globl main
main:
    li t0, 0x6000              /* mstatus.FS: floating point on */
    csrs mstatus, t0
.endm

.macro TEST_END
    li a0, 0
    la a1, suite_name
    li a2, 0
    j finish
fail:
    mv a0, gp
    la a1, suite_name
    mv a2, tp
    j finish
.endm
