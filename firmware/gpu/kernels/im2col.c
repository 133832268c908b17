/* SPDX-License-Identifier: Apache-2.0 */
#include "dense.h"
#include "gpu.h"

KERNEL(im2col, struct im2col_arguments) {
    const uint32_t kernel = args->kernel, out = args->out_height * args->out_width;
    const uint32_t position = (uint32_t)global_id(0), row = (uint32_t)global_id(1), positions = args->batch * out;
    if (position >= positions || row >= args->channels * kernel * kernel) return;
    const uint32_t channel = row / (kernel * kernel), tap = row % (kernel * kernel), image = position / out,
                   pixel = position % out;
    const uint32_t y = pixel / args->out_width * args->stride + tap / kernel - args->pad;
    const uint32_t x = pixel % args->out_width * args->stride + tap % kernel - args->pad;
    float value = 0;
    if (y < args->height && x < args->width)
        value = args->image[(((size_t)channel * args->batch + image) * args->height + y) * args->width + x];
    args->columns[(size_t)row * positions + position] = value;
}
