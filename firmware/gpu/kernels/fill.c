/* SPDX-License-Identifier: Apache-2.0 */
#include "fill.h"
#include "gpu.h"

GPU_INLINE uint32_t bits(float f) {
    uint32_t u;
    __builtin_memcpy(&u, &f, 4);
    return u;
}

KERNEL(fill, struct fill_arguments) {
    const size_t first = group_id(0) * group_size(0) * 4;
    for (unsigned k = 0; k < 4; ++k) {
        const size_t i = first + k * group_size(0) + local_id(0);
        if (i >= args->words) return;
        uint32_t word = (uint32_t)args->seed;
        switch (args->kind) {
            case FILL_INDEX64: word = i & 1 ? (uint32_t)(i >> 33) : (uint32_t)(i >> 1); break;
            case FILL_HASH: word = (uint32_t)hash64(args->seed + i); break;
            case FILL_INTEGER: word = bits(fill_integer(args->seed, i, args->range)); break;
            case FILL_UNIFORM: word = bits(fill_uniform(args->seed, i, args->scale)); break;
        }
        args->to[i] = word;
    }
}
