// SPDX-License-Identifier: Apache-2.0
// The sum of x[0 … n): each work-group adds in its local memory, and then to the result.
#include "gpu.h"

struct arguments {
    const uint32_t* x;
    uint32_t* sum;
    uint32_t n;
};

LDS uint32_t part[256];

KERNEL(reduction, struct arguments) {
    const size_t l = local_id(0), n = args->n;
    const uint32_t* x = args->x;
    uint32_t own = 0;
    for (size_t i = global_id(0); i < n; i += grid_size(0)) own += x[i];
    part[l] = own;
    for (size_t half = group_size(0) / 2; half; half /= 2) {
        barrier();
        if (l < half) part[l] += part[l + half];
    }
    if (l == 0) atomic_add_u32(args->sum, part[0]);
}
