/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"
#include "gpu.h"

KERNEL(bitonic, struct bitonic_arguments) {
    const size_t i = global_id(0);
    if (i >= args->pairs) return;
    const unsigned distance = args->stage - args->pass;
    const size_t low = (i >> distance << (distance + 1)) | (i & ((1ull << distance) - 1)),
                 high = low | 1ull << distance;
    const uint32_t a = args->keys[low], b = args->keys[high];
    const int falling = low >> (args->stage + 1) & 1;
    if ((a > b) != falling && a != b) {
        args->keys[low] = b;
        args->keys[high] = a;
    }
}
