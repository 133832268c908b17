/* SPDX-License-Identifier: Apache-2.0 */
/* Any number of work-groups copy words to where the adapter reaches them, or from there, or add floats. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_NETWORK_COPY_H
#define FABRICVP_GPU_KERNELS_NETWORK_COPY_H

#include "gpu/kernels/arguments.h"

struct network_copy_arguments {
    POINTER(const float) from;
    POINTER(float) to;
    uint32_t count, adds; /* adds: to what is there */
};

#endif
