/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_KERNELS_VECTORADD_H
#define FABRICVP_KERNELS_VECTORADD_H

#include <stdint.h>

/* c = a + b, one element a work-item. */
struct vectoradd_arguments {
    const float *a, *b;
    float* c;
    uint64_t n;
};

#endif
