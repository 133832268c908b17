/* SPDX-License-Identifier: Apache-2.0 */
#include "multigrid.h"

/* n is that of the coarse grid: a cell becomes the mean of its eight, times four for the coarser spacing. */
KERNEL(mg_restrict, struct multigrid_arguments) {
    struct cell c;
    const size_t n = args->n, fine = 2 * n;
    if (!cell_of(&c, args->n)) return;
    const double* f = args->from + (((size_t)c.z * fine + c.y) * fine + c.x) * 2;
    const double* g = f + fine * fine;
    args->to[c.at] = 0.5 * (((f[0] + f[1]) + (f[fine] + f[fine + 1])) + ((g[0] + g[1]) + (g[fine] + g[fine + 1])));
}
