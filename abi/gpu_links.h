/* SPDX-License-Identifier: Apache-2.0 */
/* Registers in a GPU's BAR 4 that reach the switch of the fabric which the GPU is attached to, link by link; where a
 * GPU is linked to another one directly, that link is all there is. GPUs of one switch see the same. Plain C99. */
#ifndef FABRICVP_ABI_GPU_LINKS_H
#define FABRICVP_ABI_GPU_LINKS_H

#include "abi/registers.h"

enum { GPU_MAX_LINKS = 64 }; /* that registers reach, from the switch's first one on */
/* clang-format off */
#define GPU_LINK_REGISTERS(R)                                                                                          \
    R(GPU_LINKS, 0x400, 4, 1, 0)              /* how many */                                                           \
    R(GPU_LINK_PENDING, 0x408, 8, 1, 0) /* bit n: what was written waits until link n is empty */ \
    R(GPU_LINK_NETCRAFTER, 0x500, 4, 64, 4) /* by link: GPU_LINK_PRESENT, gpu_link_* of its transmitter */ \
    R(GPU_LINK_LANES, 0x600, 4, 64, 4)        /* by link: GPU_LINK_PRESENT and enum gpu_link_policy of its lanes */
/* clang-format on */
enum { GPU_LINK_REGISTERS(ABI_OFFSET) };
enum { GPU_LINK_STAGE = GPU_LINK_NETCRAFTER }; /* the same, whatever kind of stage the transmitter has */
#define GPU_LINK_REGISTERS_END 0x700

#define GPU_LINK_PRESENT 0x80000000u /* read only; without it a link has no such thing, and writes do nothing */
enum gpu_link_features {
    GPU_LINK_STITCHING = 1,
    GPU_LINK_TRIMMING = 2,
    GPU_LINK_POOLING = 4,           /* of all packets; only with stitching */
    GPU_LINK_SELECTIVE_POOLING = 8, /* of all but page-table packets */
    GPU_LINK_SEQUENCING = 16,       /* page-table packets go first */
    GPU_LINK_DATA_FIRST = 32        /* as many data packets do: a control */
};
enum gpu_link_policy { GPU_LINK_FIXED = 0, GPU_LINK_MILIC2017 = 1, GPU_LINK_SYMMETRIC = 2, GPU_LINK_PREDICTIVE = 3 };

#endif
