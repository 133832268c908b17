/* SPDX-License-Identifier: Apache-2.0 */
/* The command processor's firmware; FABRICVP_CP names the file (drivers/gpu/images.h). */
    .section .rodata.images, "a"
    .globl images
    .balign 8
images:
    .dword name_cp, start_cp, end_cp - start_cp
    .dword 0, 0, 0
name_cp:
    .asciz "cp"
    .balign 16
start_cp:
    .incbin FABRICVP_CP
end_cp:
    .section .note.GNU-stack, "", @progbits
/* By this `fabricvp run` knows a program that has the run-time. */
    .section .fabricvp, "a"
    .asciz "FabricVP"
