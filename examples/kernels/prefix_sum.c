// SPDX-License-Identifier: Apache-2.0
// Inclusive prefix sums: of blocks (scan), of the blocks' totals (scan again), and the totals of earlier blocks added.
#include "gpu.h"

struct scan_arguments {
    int32_t *x, *totals;
    uint32_t n;
};

LDS int32_t sums[2][256];

KERNEL(scan, struct scan_arguments) {
    const size_t i = global_id(0), l = local_id(0), size = group_size(0);
    int32_t *a = sums[0], *b = sums[1];
    a[l] = i < args->n ? args->x[i] : 0;
    for (size_t step = 1; step < size; step *= 2) {
        barrier();
        b[l] = l >= step ? a[l] + a[l - step] : a[l];
        int32_t* const swapped = a;
        a = b;
        b = swapped;
    }
    if (i < args->n) args->x[i] = a[l];
    if (l == size - 1) args->totals[group_id(0)] = a[l];
}

struct add_arguments {
    int32_t* x;
    const int32_t* totals;
    uint32_t n;
};

KERNEL(add_totals, struct add_arguments) {
    const size_t i = global_id(0), group = group_id(0);
    if (group && i < args->n) args->x[i] += args->totals[group - 1];
}
