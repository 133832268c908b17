/* SPDX-License-Identifier: Apache-2.0 */
/* Files in a program (drivers/gpu/images.h), by macros that name them: the command processor's firmware (FABRICVP_CP),
 * and in programs of users, not in the broker itself, the broker (FABRICVP_BROKER). */
#ifdef __PIC__ /* addresses come when the library is loaded */
    .section .data.rel.ro.images, "aw"
#else
    .section .rodata.images, "a"
#endif
    .globl images
    .balign 8
images:
    .dword name_cp, start_cp, end_cp - start_cp
#ifdef FABRICVP_BROKER
    .dword name_broker, start_broker, end_broker - start_broker
#endif
    .dword 0, 0, 0
name_cp:
    .asciz "cp"
    .balign 16
start_cp:
    .incbin FABRICVP_CP
end_cp:
#ifdef FABRICVP_BROKER
name_broker:
    .asciz "broker"
    .balign 16
start_broker:
    .incbin FABRICVP_BROKER
end_broker:
#endif
    .section .note.GNU-stack, "", @progbits
/* By this `fabricvp run` knows a program that has the run-time. */
    .section .fabricvp, "a"
    .asciz "FabricVP"
