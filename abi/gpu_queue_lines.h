/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of queues that work-groups fill and the command processor empties: registers by which its firmware tells the L2
 * cache where they lie, and whether to lock them there. Plain C99. */
#ifndef FABRICVP_ABI_GPU_QUEUE_LINES_H
#define FABRICVP_ABI_GPU_QUEUE_LINES_H

#include "abi/registers.h"

/* CP_LINES_LOCK takes effect with what the other two say: while it is 1, a store of any other agent to a line there
 * locks it in L2, as far as the set allows, and the next store to it by a hart of the command processor, which has
 * taken what stood in it, unlocks it. Any write unlocks all lines first. */
/* clang-format off */
#define GPU_CP_LINES_REGISTERS(R)                                                      \
    R(CP_LINES_BEGIN, 0x0700, 8, 1, 0)      /* physical address in the GPU's memory */ \
    R(CP_LINES_BYTES, 0x0708, 8, 1, 0)                                                 \
    R(CP_LINES_LOCK, 0x0710, 4, 1, 0)       /* 0: they are counted alone */
/* clang-format on */
enum { GPU_CP_LINES_REGISTERS(ABI_OFFSET) };

#endif
