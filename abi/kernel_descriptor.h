/* SPDX-License-Identifier: Apache-2.0 */
/* What a dispatch must know of a kernel; a table of these stands in the section `.kernels` of a kernel image, and the
 * kernel_object of an AQL packet is the global virtual address of one. Plain C99. */
#ifndef FABRICVP_ABI_KERNEL_DESCRIPTOR_H
#define FABRICVP_ABI_KERNEL_DESCRIPTOR_H

#include <stdint.h>

#define KERNEL_DESCRIPTOR_MAGIC 0x4b505646 /* "FVPK" */
#define KERNEL_DESCRIPTOR_LONG_NAME 8      /* offset in `name` */

/* Lanes that have ended count as arrived at barriers, as in HIP and CUDA. They do without it too, but that is worth a
 * warning: OpenCL C does not allow it. */
#define KERNEL_ENDED_LANES_ARRIVE 1
#define KERNEL_WAVEFRONT_32 2 /* wavefronts have 32 lanes, otherwise 64 */
/* All work-groups of a launch are on the GPU at the same time, so they can wait for each other. A launch whose grid
 * does not fit is rejected. */
#define KERNEL_COOPERATIVE 4
#define KERNEL_FLAGS 7 /* all of them */

struct kernel_descriptor {
    uint32_t magic;
    uint16_t kernarg_bytes; /* size of the argument block */
    uint16_t flags;         /* KERNEL_… */
    uint64_t entry;         /* address in the code aperture (GPU_CODE_BASE + offset in the image) */
    uint64_t image_offset;  /* of this descriptor from the start of the image: the image lies at kernel_object -
                               image_offset */
    uint32_t lds_bytes;     /* static, a work-group */
    uint32_t scratch_bytes; /* a lane */
    char name[32];          /* zero-terminated. A longer name begins here with 0, and stands elsewhere: the 8 bytes at
                               KERNEL_DESCRIPTOR_LONG_NAME are its offset from the start of the image */
};

#endif
