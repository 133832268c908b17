/* SPDX-License-Identifier: Apache-2.0 */
/* Guest side of a differential test: runs the sequences one after the other, records every trap and skips what caused
 * it, and logs registers and CSRs at the end of each. */
#include "layout.h"

#define REGISTERS 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
#define USED_BY_HANDLERS 5,6,7,18,19,20,21,22
#define LEFT_ALONE 3,4,8,9,10,11,12,13,14,15,16,17,23,24,25,26,27,28,29,30,31

    .section .text.start, "ax"
    .globl _start
_start:
    csrr t0, mhartid
    bnez t0, park
    la t0, machine_trap
    csrw mtvec, t0
    li t0, -1
    srli t0, t0, 10
    csrw pmpaddr0, t0
    li t0, 0x1f
    csrw pmpcfg0, t0
    csrw mie, zero
    csrw mideleg, zero
    li t0, 0x2004000           /* mtimecmp: never */
    li t1, -1
    sd t1, 0(t0)
    li t0, LAYOUT_TRAPS
    la t1, trap_pointer
    sd t0, 0(t1)
    j next_sequence
park:
    wfi
    j park

next_sequence:
    la s0, current
    ld s1, 0(s0)
    li s2, LAYOUT_HEADER
    ld t0, HEADER_COUNT(s2)
    beq s1, t0, power_off
    la t0, traps_left
    li t1, MAX_TRAPS_PER_SEQUENCE
    sd t1, 0(t0)
    li t0, DESCRIPTOR_SIZE
    mul t0, t0, s1
    li t6, LAYOUT_DESCRIPTORS
    add t6, t6, t0             /* x31: descriptor, until the end */
    la t0, saved
    csrw mscratch, t0
    la t0, supervisor_saved
    li t1, LAYOUT_ALIAS_OFFSET
    add t0, t0, t1
    csrw sscratch, t0
    la t0, supervisor_trap
    add t0, t0, t1
    csrw stvec, t0
    csrw scause, zero
    csrw sepc, zero
    csrw stval, zero
    csrw mcause, zero
    csrw mtval, zero
    csrw mie, zero
    csrw mcounteren, zero
    csrw scounteren, zero
    ld t0, DESCRIPTOR_MEDELEG(t6)
    csrw medeleg, t0
    ld t0, DESCRIPTOR_SATP(t6)
    csrw satp, t0
    sfence.vma
    fence.i
    la t0, scrap
    sc.d t1, t1, (t0)          /* no reservation is left over */
    li t0, 0x6000
    csrs mstatus, t0
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    fld f\n, DESCRIPTOR_F + 8 * \n(t6)
    .endr
    ld t0, DESCRIPTOR_FCSR(t6)
    csrw fcsr, t0
    ld t0, DESCRIPTOR_STATUS(t6)
    csrw mstatus, t0
    ld t0, DESCRIPTOR_ENTRY(t6)
    csrw mepc, t0
    .irp n, REGISTERS
    ld x\n, DESCRIPTOR_X + 8 * (\n - 1)(t6)
    .endr
    ld x31, DESCRIPTOR_X + 8 * 30(t6)
    mret

power_off:
    li t0, 0x100000
    li t1, 0x5555
    sw t1, 0(t0)
1:  j 1b

    /* Moves the epc in s3 behind the instruction there, or to ra if it could not be fetched. s2: cause, s6: distance to
     * the view in which code can be read. */
    .macro SKIP wild
    li t0, 1
    beq s2, t0, 2f
    li t0, 12
    beq s2, t0, 2f
    j 3f
2:  mv s3, ra
    j 4f
3:  li t0, LAYOUT_CODE
    bltu s3, t0, \wild
    li t0, LAYOUT_CODE_END
    bgeu s3, t0, \wild
    add t0, s3, s6
    lhu t0, 0(t0)
    andi t0, t0, 3
    addi s3, s3, 2
    li t1, 3
    bne t0, t1, 4f
    addi s3, s3, 2
4:
    .endm

    /* Appends s2 … s5 to the trap records. */
    .macro RECORD
    la t0, trap_pointer
    ld t1, 0(t0)
    add t2, t1, s6
    sd s2, 0(t2)
    sd s3, 8(t2)
    sd s4, 16(t2)
    sd s5, 24(t2)
    addi t1, t1, TRAP_SIZE
    sd t1, 0(t0)
    .endm

    .macro SAVE scratch
    csrrw sp, \scratch, sp
    .irp n, USED_BY_HANDLERS
    sd x\n, 8 * \n(sp)
    .endr
    .endm

    .macro RESTORE scratch
    .irp n, USED_BY_HANDLERS
    ld x\n, 8 * \n(sp)
    .endr
    csrrw sp, \scratch, sp
    .endm

    .balign 4
machine_trap:
    SAVE mscratch
    csrr s2, mcause
    csrr s3, mepc
    csrr s4, mtval
    csrr s5, mstatus
    li s6, 0
    addi t0, s2, -8
    li t1, 3
    bgtu t0, t1, 1f
    la t0, current
    ld t0, 0(t0)
    li t1, DESCRIPTOR_SIZE
    mul t0, t0, t1
    li t1, LAYOUT_DESCRIPTORS
    add t0, t0, t1
    ld t0, DESCRIPTOR_END(t0)
    beq t0, s3, log_state
1:  RECORD
    la t0, traps_left
    ld t1, 0(t0)
    addi t1, t1, -1
    sd t1, 0(t0)
    beqz t1, log_state
    SKIP wild
    csrw mepc, s3
    RESTORE mscratch
    mret

    .balign 4
supervisor_trap:               /* runs at the alias of its address */
    SAVE sscratch
    csrr s2, scause
    csrr s3, sepc
    csrr s4, stval
    csrr s5, sstatus
    li s6, LAYOUT_ALIAS_OFFSET
    RECORD
    SKIP wild_supervisor
    csrw sepc, s3
    RESTORE sscratch
    sret

wild_supervisor:               /* an ecall outside of the sequences, which M mode finds wild as well */
    ecall
wild:
    li t0, LAYOUT_HEADER
    li t1, 1
    sd t1, HEADER_STATUS(t0)
    j power_off

log_state:
    sd ra, 8(sp)
    csrr t0, mscratch
    sd t0, 16(sp)
    .irp n, LEFT_ALONE
    sd x\n, 8 * \n(sp)
    .endr
    la s0, current
    ld s1, 0(s0)
    addi t0, s1, 1
    sd t0, 0(s0)
    slli t1, s1, 10
    li t2, LAYOUT_LOG
    add t2, t2, t1
    sd t0, 0(t2)
    .irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    ld t0, 8 * \n(sp)
    sd t0, 8 * \n(t2)
    .endr
    li t0, 0x6000
    csrs mstatus, t0
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    fsd f\n, LOG_F + 8 * \n(t2)
    .endr
    sd s5, LOG_CSR + 8 * 1(t2) /* mstatus as the last trap found it */
    sd s2, LOG_CSR + 8 * 2(t2)
    sd s3, LOG_CSR + 8 * 3(t2)
    sd s4, LOG_CSR + 8 * 4(t2)
    .macro LOG number, csr
    csrr t0, \csr
    sd t0, LOG_CSR + 8 * \number(t2)
    .endm
    LOG 0, fcsr
    LOG 5, scause
    LOG 6, sepc
    LOG 7, stval
    LOG 8, satp
    LOG 9, medeleg
    LOG 10, mideleg
    LOG 11, mie
    LOG 12, mcounteren
    LOG 13, scounteren
    la t0, trap_pointer
    ld t0, 0(t0)
    sd t0, LOG_CSR + 8 * 14(t2)
    li t1, LAYOUT_TRAPS_END - TRAP_SIZE * (MAX_TRAPS_PER_SEQUENCE + 1)
    bltu t0, t1, next_sequence
    li t0, LAYOUT_HEADER
    li t1, 2
    sd t1, HEADER_STATUS(t0)
    j power_off

    .data
    .balign 64
saved: .zero 256
supervisor_saved: .zero 256
current: .dword 0
trap_pointer: .dword 0
traps_left: .dword 0
scrap: .dword 0
