/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "neural_network.h"

KERNEL(max_pool, struct pool_arguments) {
    const uint32_t i = (uint32_t)global_id(0), width = args->width / 2, height = args->height / 2;
    if (i >= args->planes * height * width) return;
    const float* in =
        args->in + ((size_t)(i / width / height) * args->height + i / width % height * 2) * args->width + i % width * 2;
    const float top = in[0] > in[1] ? in[0] : in[1],
                bottom = in[args->width] > in[args->width + 1] ? in[args->width] : in[args->width + 1];
    args->out[i] = top > bottom ? top : bottom;
}
