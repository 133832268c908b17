# SPDX-License-Identifier: Apache-2.0
# 14 instructions an iteration, 6 of them loads and stores of 8, 4 and 1 bytes, over a buffer of 256 KiB.
    .text
    .globl loop
    .balign 64
loop:
    li s2, 0
    li s3, 0x3ffc0
1:  add t0, s1, s2
    ld t1, 0(t0)
    lw t2, 12(t0)
    lbu t3, 21(t0)
    add t1, t1, t2
    xor t1, t1, t3
    sd t1, 32(t0)
    sw t2, 44(t0)
    sb t3, 53(t0)
    addi s2, s2, 64
    and s2, s2, s3
    add a0, a0, t1
    addi s0, s0, -1
    bnez s0, 1b
    ret
