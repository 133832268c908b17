/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel: C that runs once for each work-item, 64 of them side by side in a wavefront. */
#include "gpu/gpu.h"

#include "arguments.h"

KERNEL(@NAME@, struct arguments)
{
    const size_t i = global_id(0);
    if (i < args->n) args->c[i] = args->factor * args->a[i] + args->b[i];
}
