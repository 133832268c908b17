# SPDX-License-Identifier: Apache-2.0
# Each hart gets a stack of 4 KiB; hart 0 runs main, the others worker. The image is loaded with a zeroed .bss.
    .section .text.start, "ax"
    .globl _start
    .type _start, @function
_start:
    csrr    a0, mhartid
    la      sp, stacks
    addi    t0, a0, 1
    slli    t0, t0, 12
    add     sp, sp, t0
    li      t0, 0x2000          # mstatus.FS: floating point is on
    csrs    mstatus, t0
    li      ra, 0               # where the debugger's backtrace ends
    bnez    a0, 1f
    call    main
1:  call    worker
    .size _start, . - _start
