/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"
#include "gpu.h"

KERNEL(histogram, struct histogram_arguments) {
    LDS uint32_t bins[HISTOGRAM_BINS];
    for (size_t b = local_id(0); b < HISTOGRAM_BINS; b += group_size(0)) bins[b] = 0;
    barrier();
    const size_t lanes = grid_size(0);
    for (size_t i = 0, at = global_id(0); i < args->words_per_lane; ++i, at += lanes) {
        if (at >= args->words) break;
        const uint32_t four = args->from[at];
        for (unsigned shift = 0; shift < 32; shift += 8) atomic_increase_u32(&bins[four >> shift & 255], 1);
    }
    barrier();
    for (size_t b = local_id(0); b < HISTOGRAM_BINS; b += group_size(0))
        if (bins[b]) atomic_increase_u32(&args->bins[b], bins[b]);
}
