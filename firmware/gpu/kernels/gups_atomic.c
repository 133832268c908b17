/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "gups.h"

KERNEL(gups_atomic, struct gups_arguments) {
    uint64_t *table = args->table, a = args->start[global_id(0)];
    const uint64_t mask = args->mask, updates = args->updates;
    for (uint64_t u = 0; u < updates; ++u) {
        a = gups_next(a);
        __asm__ volatile("amoxor.d x0, %1, (%0)" : : "r"(&table[a & mask]), "r"(a) : "memory");
    }
}
