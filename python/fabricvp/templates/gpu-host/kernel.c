/* SPDX-License-Identifier: Apache-2.0 */
/* Runs once for each work-item, 64 of them side by side in a wavefront. */
#include "gpu/gpu.h"

#include "arguments.h"

KERNEL(triple, struct arguments)
{
    const size_t i = global_id(0);
    if (i < args->n) args->out[i] = 3 * args->in[i];
}
