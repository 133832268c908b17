# SPDX-License-Identifier: Apache-2.0
# Runs `loop` (with ITERATIONS in s0) on hart 0 in M-mode and powers the machine off by the test finisher. A trap ends in
# a failure status, so that a run which went wrong is not timed.
    .section .text.start, "ax"
    .globl _start
_start:
    csrr t0, mhartid
    bnez t0, park
    la t0, trap
    csrw mtvec, t0
    li s0, ITERATIONS
    li a0, 0x9e3779b97f4a7c15
    li a1, 0
    li a2, 0
    li a3, 0
    la s1, buffer
    beqz s0, 1f
    call loop
1:  li t0, 0x100000
    li t1, 0x5555
    sw t1, 0(t0)
park:
    wfi
    j park
    .balign 4
trap:
    li t0, 0x100000
    li t1, 0x13333
    sw t1, 0(t0)
    j park
