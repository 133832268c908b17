/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "arguments.h"
#include "random.h"

KERNEL(gups, struct gups_arguments)
{
    const uint64_t first = args->seed + global_id(0) * args->updates;
    for (uint64_t u = 0; u < args->updates; ++u) {
        const uint64_t r = hash64(first + u);
        __asm__ volatile("amoxor.d x0, %1, (%0)" : : "r"(&args->table[r & args->mask]), "r"(r) : "memory");
    }
}
