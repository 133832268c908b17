/* SPDX-License-Identifier: Apache-2.0 */
#include "multigrid.h"

/* A step of damped Jacobi (weight 6/7) for 6u - Σ neighbours = right. */
KERNEL(mg_smooth, struct multigrid_arguments) {
    struct cell c;
    if (!cell_of(&c, args->n)) return;
    const double u = args->from[c.at];
    args->to[c.at] = u + ((args->right[c.at] + neighbours(args->from, c, args->n)) - 6 * u) * (1.0 / 7);
}
