/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"
#include "gpu.h"

/* A lane an element, which it keeps in memory: as in PolyBench/GPU, every step stores the sum so far. */
KERNEL(mm_naive, struct mm_arguments) {
    const size_t n = args->n, column = global_id(0), row = global_id(1);
    if (row >= n || column >= n) return;
    const float *a = args->a + row * n, *b = args->b + column;
    float* c = args->c + row * n + column;
    for (size_t k = 0; k < n; ++k) *c += a[k] * b[k * n];
}
