/* SPDX-License-Identifier: Apache-2.0 */
/* All harts of a command processor enter here in machine mode, with nothing set. */
    .section .text.start, "ax"
    .globl _start
_start:
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    la      t0, trap_entry
    csrw    mtvec, t0
    csrr    a0, mhartid
    la      sp, __stacks
    addi    t0, a0, 1
    slli    t0, t0, 11          /* 2 KiB a hart */
    add     sp, sp, t0
    bnez    a0, 2f
    la      t0, __bss_start
    la      t1, __bss_end
1:  bgeu    t0, t1, 3f
    sd      zero, 0(t0)
    addi    t0, t0, 8
    j       1b
3:  la      t0, __tables        /* shared with the host, which waits until the firmware is ready */
    la      t1, _start
8:  bgeu    t0, t1, 9f
    sd      zero, 0(t0)
    addi    t0, t0, 8
    j       8b
9:  la      t0, started         /* the others may go on */
    li      t1, 1
    fence   rw, w
    sw      t1, 0(t0)
    j       4f
2:  la      t0, started
5:  lw      t1, 0(t0)
    fence   r, rw
    pause
    beqz    t1, 5b
4:  call    processor_main
    j       .

    .align  2
trap_entry:
    csrr    t0, mepc
    la      t1, guarded_begin
    bltu    t0, t1, 6f
    la      t1, guarded_end
    bgeu    t0, t1, 6f
    la      t0, guarded_failed
    csrw    mepc, t0
    mret
6:  la      sp, __stacks        /* the stack pointer may be what has gone wrong */
    csrr    a3, mhartid
    addi    t0, a3, 1
    slli    t0, t0, 11
    add     sp, sp, t0
    csrr    a0, mcause
    csrr    a1, mepc
    csrr    a2, mtval
    call    processor_crashed
7:  wfi
    j       7b

    .section .data
    .align  2
started: .word 0
