/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"
#include "gpu.h"

KERNEL(stencil, struct stencil_arguments) {
    const size_t x = global_id(0), y = global_id(1), width = args->width, height = args->height;
    if (x >= width || y >= height) return;
    const size_t at = y * width + x;
    const float* from = args->from;
    float value = from[at];
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1)
        value = (value * 4 + ((from[at - 1] + from[at + 1]) + (from[at - width] + from[at + width]))) * 0.125f;
    args->to[at] = value;
}
