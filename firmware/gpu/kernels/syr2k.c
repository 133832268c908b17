/* SPDX-License-Identifier: Apache-2.0 */
#include "dense.h"
#include "gpu.h"

/* A lane an element of the whole square, which it keeps in memory: as in PolyBench/GPU, every step stores the sum so
 * far. */
KERNEL(syr2k, struct syr2k_arguments) {
    const size_t n = args->n, m = args->m, j = global_id(0), i = global_id(1);
    if (i >= n || j >= n) return;
    const float alpha = args->alpha;
    const float *ai = args->a + i * m, *aj = args->a + j * m, *bi = args->b + i * m, *bj = args->b + j * m;
    float* c = args->c + i * n + j;
    *c *= args->beta;
    for (size_t k = 0; k < m; ++k) *c += alpha * ai[k] * bj[k] + alpha * bi[k] * aj[k];
}
