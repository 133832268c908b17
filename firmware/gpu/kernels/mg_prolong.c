/* SPDX-License-Identifier: Apache-2.0 */
#include "multigrid.h"

/* n is that of the fine grid: adds what the coarse cell says. */
KERNEL(mg_prolong, struct multigrid_arguments) {
    struct cell c;
    if (!cell_of(&c, args->n)) return;
    const size_t n = args->n / 2;
    args->to[c.at] += args->from[((c.z / 2) * n + c.y / 2) * n + c.x / 2];
}
