// SPDX-License-Identifier: Apache-2.0
// Counts bytes: each work-group in its local memory, then all together.
#include "gpu.h"

struct arguments {
    const uint8_t* x;
    uint32_t* bins;
    uint32_t n;
};

LDS uint32_t own[256];

KERNEL(histogram, struct arguments) {
    const uint8_t* x = args->x;
    const size_t n = args->n;
    for (size_t i = local_id(0); i < 256; i += group_size(0)) own[i] = 0;
    barrier();
    for (size_t i = global_id(0); i < n; i += grid_size(0)) atomic_increase_u32(&own[x[i]], 1);
    barrier();
    for (size_t i = local_id(0); i < 256; i += group_size(0)) atomic_increase_u32(&args->bins[i], own[i]);
}
