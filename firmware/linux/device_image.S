/* SPDX-License-Identifier: Apache-2.0 */
/* The image of the kernels of a program of several files (FABRICVP_IMAGE), which is there before constructors of the
 * program run. */
    .text
    .type give_image, @function
give_image:
    lla a0, image
    tail __hipRegisterLinkedImage
    .size give_image, . - give_image

    .section .init_array.00101, "aw"
    .balign 8
    .dword give_image

    .section .rodata.device_image, "a"
    .balign 16
image:
    .incbin FABRICVP_IMAGE
    .section .note.GNU-stack, "", @progbits
