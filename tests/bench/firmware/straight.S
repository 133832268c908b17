# SPDX-License-Identifier: Apache-2.0
# 16 instructions an iteration without a call, whichever way the branch goes: what suits a translator best.
    .text
    .globl loop
    .balign 64
loop:
    slli t0, a0, 13
    xor a0, a0, t0
    srli t0, a0, 7
    xor a0, a0, t0
    slli t0, a0, 17
    xor a0, a0, t0
    andi t1, s0, 3
    beqz t1, 1f
    addi a1, a1, 3
    j 2f
1:  xori a1, a1, 0x55
    add a1, a1, a0
2:  mul t2, a1, a0
    add a2, a2, t2
    sltu t3, a2, a0
    add a3, a3, t3
    addi s0, s0, -1
    bnez s0, loop
    ret
