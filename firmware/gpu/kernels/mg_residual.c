/* SPDX-License-Identifier: Apache-2.0 */
#include "multigrid.h"

KERNEL(mg_residual, struct multigrid_arguments) {
    struct cell c;
    if (!cell_of(&c, args->n)) return;
    args->to[c.at] = (args->right[c.at] + neighbours(args->from, c, args->n)) - 6 * args->from[c.at];
}
