/* SPDX-License-Identifier: Apache-2.0 */
#include "digest.h"
#include "gpu.h"

KERNEL(digest, struct digest_arguments) {
    LDS uint64_t sum[DIGEST_GROUP], weighted[DIGEST_GROUP];
    const size_t lane = local_id(0), block = group_id(0) * DIGEST_BLOCK;
    uint64_t s = 0, w = 0;
    for (size_t i = lane; i < DIGEST_BLOCK && block + i < args->words; i += DIGEST_GROUP) {
        const uint64_t word = args->from[block + i];
        s += word;
        w += word * (i + 1);
    }
    sum[lane] = s;
    weighted[lane] = w;
    for (size_t half = DIGEST_GROUP / 2; half; half /= 2) {
        barrier();
        if (lane < half) {
            sum[lane] += sum[lane + half];
            weighted[lane] += weighted[lane + half];
        }
    }
    if (lane == 0) {
        args->to[group_id(0)].sum = sum[0];
        args->to[group_id(0)].weighted = weighted[0];
    }
}
