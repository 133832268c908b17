# SPDX-License-Identifier: Apache-2.0
# All harts enter here in machine mode: a0 = hart, a1 = device tree. Hart 0 brings the machine up; the others wait for
# a software interrupt, because reset clears MSIP wherever the machine came from, which no word in memory does.
#include "lib/layout.h"

    .section .text.start, "ax"
    .globl _start
_start:
    # The header of a Linux kernel `Image`: U-Boot's booti starts the program as a flat binary, too, with the same registers.
    j       enter
    .balign 8
    .dword  0                       # offset from the start of the memory
    .dword  __image_end - _start
    .dword  0                       # little endian
    .word   2, 0                    # version 0.2
    .dword  0
    .ascii  "RISCV\0\0\0"
    .ascii  "RSC\005"
    .word   0
enter:
    csrw    mie, zero
    li      t0, 1 << 13     # FS = initial: main() may use floats; harts without them ignore it
    csrw    mstatus, t0
    csrw    mscratch, a0
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    la      t0, trap_entry
    csrw    mtvec, t0
    li      t0, MAX_HARTS
    bgeu    a0, t0, park
    mv      tp, a0
    la      sp, __stacks
    addi    t0, a0, 1
    slli    t0, t0, STACK_SHIFT
    add     sp, sp, t0
    bnez    a0, secondary

    la      t0, __bss_start
    la      t1, __bss_end
1:  bgeu    t0, t1, 2f
    sd      zero, 0(t0)
    addi    t0, t0, 8
    j       1b
2:  fence.i
    call    firmware_start
    j       park

secondary:
    li      t0, 8           # MSIE: wfi returns, with interrupts globally off
    csrw    mie, t0
3:  wfi
    csrr    t0, mip
    andi    t0, t0, 8
    beqz    t0, 3b
    fence
    fence.i
    call    hart_entry      # clears its MSIP, runs what it was given, comes back to wait
    j       secondary

park:
    wfi
    j       park

# Saves all integer registers in the interrupted stack and hands a frame to C.
    .align  2
    .globl  trap_entry
trap_entry:
    addi    sp, sp, -TRAP_FRAME_SIZE
    .irp    n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    sd      x\n, 8 * \n(sp)
    .endr
    addi    t0, sp, TRAP_FRAME_SIZE
    sd      t0, 8 * 2(sp)
    csrr    t0, mepc
    sd      t0, 0(sp)
    mv      a0, sp
    call    trap_dispatch
    ld      t0, 0(sp)
    csrw    mepc, t0
    .irp    n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    ld      x\n, 8 * \n(sp)
    .endr
    addi    sp, sp, TRAP_FRAME_SIZE
    mret

# bool probe_load(const void* address, uint32_t* value): false if the access faults.
    .globl  probe_load
    .globl  probe_load_access
    .globl  probe_load_failed
probe_load:
probe_load_access:
    lw      t0, 0(a0)
    sw      t0, 0(a1)
    li      a0, 1
    ret
probe_load_failed:
    li      a0, 0
    ret
