/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "arguments.h"

/* A lane copies 16 bytes, as words: lane n of a wavefront takes words n, n + 64, …, so that an instruction touches four
 * lines that lie behind each other. Work-groups must be whole. */
KERNEL(copy, struct copy_arguments)
{
    const size_t words = args->bytes / 4, first = group_id(0) * group_size(0) * 4;
    uint32_t *to = args->to;
    const uint32_t *from = args->from;
    uint32_t value[4];
    for (unsigned i = 0; i < 4; ++i) {
        const size_t at = first + i * group_size(0) + local_id(0);
        value[i] = at < words ? from[at] : 0;
    }
    for (unsigned i = 0; i < 4; ++i) {
        const size_t at = first + i * group_size(0) + local_id(0);
        if (at < words) to[at] = value[i];
    }
}
