/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"
#include "gpu.h"

KERNEL(fir, struct fir_arguments) {
    const size_t i = global_id(0);
    if (i >= args->n) return;
    float sum = 0;
    for (unsigned k = 0; k < FIR_TAPS; ++k) sum += args->x[i + k] * args->h[k];
    args->y[i] = sum;
}
