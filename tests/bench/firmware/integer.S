# SPDX-License-Identifier: Apache-2.0
# 36 instructions an iteration, in the proportions of compiled integer code: a branch or jump every four instructions, one
# call and return, shifts, logic, comparisons, a multiplication. Both ways of each branch have the same length.
    .text
    .globl loop
    .balign 64
loop:
    mv s4, ra
1:  slli t0, a0, 13
    xor a0, a0, t0
    srli t0, a0, 7
    xor a0, a0, t0
    andi t1, s0, 3
    beqz t1, 2f
    addi a1, a1, 3
    j 3f
2:  xori a1, a1, 0x55
    add a1, a1, a0
3:  slli t0, a0, 17
    xor a0, a0, t0
    andi t1, s0, 8
    bnez t1, 4f
    add a3, a3, a0
    j 5f
4:  sub a3, a3, a0
    xor a3, a3, a1
5:  call leaf
    sltiu t1, a4, 100
    xori t1, t1, 1
    add a5, a5, t1
    bltu a5, a4, 6f
    srli t2, a3, 3
    j 7f
6:  slli t2, a3, 5
    or t2, t2, a1
7:  addw a2, a2, t2
    sraiw a6, a2, 4
    addi t3, s0, 7
    andi t3, t3, 16
    beqz t3, 8f
    addi a7, a7, 1
    j 9f
8:  add a7, a7, t2
    xor a7, a7, a6
9:  addi a7, a7, -1
    addi s0, s0, -1
    bnez s0, 1b
    mv ra, s4
    ret
leaf:
    mul t2, a1, a0
    add a2, a2, t2
    sltu t3, a2, a0
    add a4, a3, t3
    ret
