/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "neural_network.h"

KERNEL(col2im, struct col2im_arguments) {
    const uint32_t i = (uint32_t)global_id(0), width = args->width, height = args->height, kernel = args->kernel,
                   stride = args->stride;
    if (i >= args->channels * args->batch * height * width) return;
    const uint32_t x = i % width, y = i / width % height, plane = i / width / height, image = plane % args->batch,
                   channel = plane / args->batch;
    const uint32_t out = args->out_height * args->out_width, positions = args->batch * out;
    float sum = args->accumulate ? args->image[i] : 0;
    for (uint32_t ky = 0; ky < kernel; ++ky)
        for (uint32_t kx = 0; kx < kernel; ++kx) {
            const uint32_t down = y + args->pad - ky, right = x + args->pad - kx; /* wraps where there is none */
            if (down % stride || right % stride || down / stride >= args->out_height ||
                right / stride >= args->out_width)
                continue;
            const uint32_t row = (channel * kernel + ky) * kernel + kx;
            sum +=
                args->columns[(size_t)row * positions + image * out + down / stride * args->out_width + right / stride];
        }
    args->image[i] = sum;
}
