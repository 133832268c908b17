/* SPDX-License-Identifier: Apache-2.0 */
#include "gups.h"
#include "gpu.h"

/* Load, exclusive-or, store: of two updates of a word that overlap, one is lost. */
KERNEL(gups, struct gups_arguments) {
    uint64_t *table = args->table, a = args->start[global_id(0)];
    const uint64_t mask = args->mask, updates = args->updates;
    for (uint64_t u = 0; u < updates; ++u) {
        a = gups_next(a);
        table[a & mask] ^= a;
    }
}
