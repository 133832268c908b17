/* SPDX-License-Identifier: Apache-2.0 */
#include "host/apps/graph.h"

enum { EDGES_A_VERTEX = 4, ITERATIONS = 2 };

/* Ranks flow against the stored direction of edges: a vertex gathers from the targets of its row, each of which shares its
 * rank among all rows that name it. The reference does so one
 * vertex after the other, from targets that it draws itself. */
bool app_pagerank(struct app* app) {
    unsigned scale = 4;
    while (1ull << scale < app->size && scale < RMAT_SCALE_MOST) ++scale;
    struct graph g;
    graph_generate(app, &g, scale, (uint64_t)EDGES_A_VERTEX << scale, false);
    const uint64_t n = g.vertices, bytes = n * 4;
    uint32_t *target = app_host(app, g.edges * 4), *degree = app_host(app, bytes), *expected = app_host(app, bytes), *shared = app_host(app, bytes);
    for (uint32_t v = 0; v < n; ++v)
        for (uint64_t e = g.row_start[v]; e < g.row_start[v + 1]; ++e) ++degree[target[e] = graph_target(&g, v, e)];
    const gpu_address degree_at = app_buffer(app, bytes), rank = app_buffer(app, bytes), share = app_buffer(app, bytes);
    app_upload(app, degree_at, degree, bytes);
    app_fill(app, rank, n, FILL_CONSTANT, 1 << PAGERANK_BITS, 0, 0);
    const struct pagerank_share_arguments s = {degree_at, rank, share, g.vertices};
    const struct pagerank_arguments p = {g.row_start_at, g.target, share, rank, g.vertices};
    bool ran = true;
    app_measure_begin(app);
    for (unsigned i = 0; i < ITERATIONS && ran; ++i)
        ran = app_run_1d(app, app_kernel(app, "pagerank_share"), n, 256, &s, sizeof s) &&
              app_run_1d(app, app_kernel(app, "pagerank"), (n + PAGERANK_GROUP - 1) & ~(PAGERANK_GROUP - 1ull), PAGERANK_GROUP, &p, sizeof p);
    app_measure_end(app);
    if (!ran) return false;

    for (uint32_t v = 0; v < n; ++v) expected[v] = 1 << PAGERANK_BITS;
    for (unsigned i = 0; i < ITERATIONS; ++i) {
        for (uint32_t w = 0; w < n; ++w) shared[w] = degree[w] ? expected[w] / degree[w] : 0;
        for (uint32_t v = 0; v < n; ++v) {
            uint64_t gathered = 0;
            for (uint64_t e = g.row_start[v]; e < g.row_start[v + 1]; ++e) gathered += shared[target[e]];
            expected[v] = (uint32_t)((((1u << PAGERANK_DAMPING_BITS) - PAGERANK_DAMPING) << (PAGERANK_BITS - PAGERANK_DAMPING_BITS)) +
                                     gathered * PAGERANK_DAMPING / (1u << PAGERANK_DAMPING_BITS));
        }
    }
    struct app_check edges, ranks;
    app_check_begin(app, &edges, g.target, g.edges);
    for (uint64_t e = 0; e < g.edges; ++e) app_expect(&edges, target[e]);
    app_check_begin(app, &ranks, rank, n);
    for (uint32_t v = 0; v < n; ++v) app_expect(&ranks, expected[v]);
    return app_check_end(app, &edges, "edges at") && app_check_end(app, &ranks, "ranks at");
}
