/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "neural_network.h"

/* Of equal maxima, the first takes the gradient. */
KERNEL(max_pool_backward, struct pool_arguments) {
    const uint32_t i = (uint32_t)global_id(0), wide = args->width, high = args->height, width = wide / 2,
                   height = high / 2;
    if (i >= args->planes * high * wide) return;
    const uint32_t x = i % wide, y = i / wide % high, plane = i / wide / high;
    float gradient = 0;
    if (x / 2 < width && y / 2 < height) {
        const float* in = args->in + ((size_t)plane * high + y / 2 * 2) * wide + x / 2 * 2;
        const uint32_t own = y % 2 * 2 + x % 2, out = (plane * height + y / 2) * width + x / 2;
        const float max_value = args->out[out];
        uint32_t first = 0;
        while (first < 3 && in[first / 2 * wide + first % 2] != max_value) ++first;
        if (first == own) gradient = args->out_gradient[out];
    }
    args->in_gradient[i] = gradient;
}
