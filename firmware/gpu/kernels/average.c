/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "neural_network.h"

KERNEL(average, struct average_arguments) {
    const size_t plane = global_id(0);
    if (plane >= args->planes) return;
    float sum = 0;
    for (uint32_t i = 0; i < args->size; ++i) sum += args->planes_data[plane * args->size + i];
    args->averages[plane] = sum / (float)args->size;
}
