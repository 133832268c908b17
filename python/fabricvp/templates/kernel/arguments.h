/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

/* What run.py hands over, in this order: three buffers, a number, a count. */
struct arguments {
    const float *a, *b;
    float *c;
    float factor;
    uint64_t n;
};
