// SPDX-License-Identifier: Apache-2.0
#include "gpu.h"

struct arguments {
    const float *a, *b;
    float* c;
    uint32_t n;
};

KERNEL(vector_add, struct arguments) {
    const size_t i = global_id(0);
    if (i < args->n) args->c[i] = args->a[i] + args->b[i];
}
