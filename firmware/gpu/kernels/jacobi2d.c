/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"
#include "gpu.h"

/* The mean of five points; borders stay. */
KERNEL(jacobi2d, struct stencil_arguments) {
    const size_t x = global_id(0), y = global_id(1), width = args->width, height = args->height;
    if (x >= width || y >= height) return;
    const size_t at = y * width + x;
    const float* from = args->from;
    float value = from[at];
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1)
        value = 0.2f * (((value + from[at - 1]) + (from[at + 1] + from[at + width])) + from[at - width]);
    args->to[at] = value;
}
