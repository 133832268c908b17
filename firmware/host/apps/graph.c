/* SPDX-License-Identifier: Apache-2.0 */
#include "host/apps/graph.h"

#include "host/console.h"

void graph_generate(struct app* app, struct graph* g, unsigned scale, uint64_t edges, bool sources) {
    g->scale = scale;
    g->vertices = 1u << scale;
    g->row_start = app_host(app, (g->vertices + 1ull) * 4);
    double expected[33]; /* by how many bits of the source are 1 */
    for (unsigned ones = 0; ones <= scale; ++ones) {
        expected[ones] = (double)edges;
        for (unsigned bit = 0; bit < scale; ++bit) expected[ones] *= bit < ones ? 1 - RMAT_ZERO : RMAT_ZERO;
    }
    uint64_t total = 0;
    uint32_t* hint = app_host(app, (2 * edges / RMAT_HINT + g->vertices / RMAT_HINT + 2) * 4);
    uint64_t hints = 0;
    for (uint32_t v = 0; v < g->vertices; ++v) {
        unsigned ones = 0;
        for (uint32_t rest = v; rest; rest &= rest - 1) ++ones;
        g->row_start[v] = (uint32_t)total;
        total += (uint64_t)(expected[ones] + (double)(hash64(~(uint64_t)v) >> 11) * 0x1p-53);
        while (hints * RMAT_HINT < total) hint[hints++] = v;
    }
    g->row_start[g->vertices] = (uint32_t)total;
    g->edges = total;
    hint[hints++] = g->vertices - 1;
    console_printf("graph      %u vertices, %lu edges\n", g->vertices, g->edges);

    g->row_start_at = app_buffer(app, (g->vertices + 1ull) * 4);
    g->target = app_buffer(app, total * 4);
    g->source = sources ? app_buffer(app, total * 4) : 0;
    app_upload(app, g->row_start_at, g->row_start, (g->vertices + 1ull) * 4);
    const struct rmat_arguments a = {g->row_start_at, app_buffer(app, hints * 4), g->target, g->source, total, scale};
    app_upload(app, a.hint, hint, hints * 4);
    app_run_1d(app, app_kernel(app, "rmat"), total, 256, &a, sizeof a);
}
