/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "network.h"

enum { UNROLLED = 8 };

/* Each work-group reads its part of a buffer again and again, until it is told to stop: traffic that no cache keeps. */
KERNEL(network_stream, struct network_stream_arguments) {
    const size_t part = args->words / group_count(0), begin = group_id(0) * part, step = UNROLLED * group_size(0);
    uint32_t passes = 0, wrong = 0;
    while (!load_scoped_u32(args->stop)) {
        for (size_t first = begin + local_id(0); first < begin + part; first += step) {
            uint64_t word[UNROLLED];
#pragma GCC unroll 8
            for (unsigned i = 0; i < UNROLLED; ++i) word[i] = args->from[first + i * group_size(0)];
#pragma GCC unroll 8
            for (unsigned i = 0; i < UNROLLED; ++i) wrong += word[i] != first + i * group_size(0);
            if (load_scoped_u32(args->stop)) break;
        }
        ++passes;
    }
    atomic_add_u32(&args->found->wrong, wrong);
    if (local_id(0) == 0) atomic_add_u32(&args->found->passes, passes);
}
