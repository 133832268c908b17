/* SPDX-License-Identifier: Apache-2.0 */
/* Entry, the way out, and the trap entry that C tests use. */
    .section .text.start, "ax"
    .globl _start
_start:
    csrr t0, mhartid
    bnez t0, park
    la t0, unexpected_trap
    csrw mtvec, t0
    la t0, bss_start
    la t1, bss_end
1:  bgeu t0, t1, 2f
    sd zero, 0(t0)
    addi t0, t0, 8
    j 1b
2:  la sp, stack_top
    li gp, 0
    la tp, in_startup
    j main
park:
    wfi
    j park

    .balign 4
unexpected_trap:
    csrr a3, mcause
    csrr a4, mepc
    csrr a5, mtval
    la sp, stack_top
    mv a0, gp
    la a1, in_startup
    mv a2, tp
    j report_trap

    /* finish(test number or 0, suite, group): prints the outcome and powers off */
    .globl finish
finish:
    la sp, stack_top
    j report

    .section .rodata
in_startup:
    .string "unexpected trap"
