/* SPDX-License-Identifier: Apache-2.0 */
#include "dense.h"
#include "gpu.h"

/* 64 random bits in place become a number -1 ≤ x < 1. */
KERNEL(mg_source, struct multigrid_arguments) {
    const size_t i = global_id(0), n = args->n;
    if (i < n * n * n) args->to[i] = (double)((const int64_t*)args->to)[i] * 0x1p-63;
}
