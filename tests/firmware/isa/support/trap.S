/* SPDX-License-Identifier: Apache-2.0 */
/* Trap entries of M and S mode for C tests, and the passage into less privileged modes and back. */

    .macro SAVE_ALL scratch
    csrrw sp, \scratch, sp     /* sp: end of the frame; scratch: interrupted sp */
    addi sp, sp, -256
    .irp r, 1,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    sd x\r, 8*\r(sp)
    .endr
    csrr t0, \scratch
    sd t0, 16(sp)
    mv a0, sp
    .endm

    .macro RESTORE_ALL scratch
    addi t0, sp, 256
    csrw \scratch, t0
    .irp r, 1,3,4,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    ld x\r, 8*\r(sp)
    .endr
    ld t0, 40(sp)
    ld sp, 16(sp)
    .endm

    .text
    .balign 256
    .globl machine_vector
machine_vector:                /* vectored: entry n at 4n */
    .option push
    .option norvc
    j machine_trap             /* exceptions, and all interrupts in direct mode */
    .irp n, 1,2,3,4,5,6,7,8,9,10,11
    j vectored_\n
    .endr
    .option pop
    .irp n, 1,2,3,4,5,6,7,8,9,10,11
vectored_\n:
    csrw mscratch, t0
    la t0, vector_taken
    sd t1, 8(t0)
    li t1, \n
    sd t1, 0(t0)
    ld t1, 8(t0)
    la t0, machine_frame_end
    csrrw t0, mscratch, t0
    j machine_trap
    .endr

    .balign 4
    .globl machine_trap
machine_trap:
    SAVE_ALL mscratch
    call handle_machine_trap
    RESTORE_ALL mscratch
    mret

    .balign 4
    .globl supervisor_trap
supervisor_trap:
    SAVE_ALL sscratch
    call handle_supervisor_trap
    RESTORE_ALL sscratch
    sret

    /* uint64_t enter(fn, argument, stack): the caller has set mstatus.MPP; comes back by leave() */
    .globl enter
enter:
    addi sp, sp, -128
    sd ra, 0(sp)
    .irp r, 0,1,2,3,4,5,6,7,8,9,10,11
    sd s\r, 8+8*\r(sp)
    .endr
    la t0, saved_stack
    sd sp, 0(t0)
    csrw mepc, a0
    mv a0, a1
    mv sp, a2
    la ra, gate
    mret
gate:                          /* runs in the less privileged mode */
    li a7, 0x1ea5e
    ecall

    /* leave(value): in M mode, returns from enter() */
    .globl leave
leave:
    la t0, saved_stack
    ld sp, 0(t0)
    ld ra, 0(sp)
    .irp r, 0,1,2,3,4,5,6,7,8,9,10,11
    ld s\r, 8+8*\r(sp)
    .endr
    addi sp, sp, 128
    ret

    .bss
    .balign 16
saved_stack: .zero 8
    .globl vector_taken
vector_taken: .zero 16
    .balign 16
    .zero 4096                 /* the frame, and the handler's stack below it */
    .globl machine_frame_end
machine_frame_end:
    .zero 4096
    .globl supervisor_frame_end
supervisor_frame_end:
    .zero 16
