// SPDX-License-Identifier: Apache-2.0
// A step of Jacobi's method with five points on a grid of n rows and columns whose border stays.
#include "gpu.h"

struct arguments {
    const float* in;
    float* out;
    uint32_t n;
};

KERNEL(stencil, struct arguments) {
    const float* in = args->in;
    float* out = args->out;
    const size_t n = args->n, x = global_id(0), y = global_id(1), at = y * n + x;
    if (x >= n || y >= n) return;
    const int border = x == 0 || y == 0 || x == n - 1 || y == n - 1;
    out[at] = border ? in[at] : 0.25f * ((in[at - 1] + in[at + 1]) + (in[at - n] + in[at + n]));
}
