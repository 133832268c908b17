/* SPDX-License-Identifier: Apache-2.0 */
#include "host/apps/graph.h"

#include "host/console.h"

enum { EDGES_A_VERTEX = 2, ROUNDS_MOST = 100 };

/* A maximal independent set. The reference is the greedy one in order of priority, which Luby's rounds must find too:
 * from the highest priority on, whoever has no neighbour in the set joins it. */
static bool is_greedy(struct app* app, const struct graph* g, const uint32_t* state) {
    /* Membership is right if members have no member beside them and each of the others has one of higher priority. */
    const uint32_t n = g->vertices;
    uint8_t* excused = app_host(app, n);
    for (uint32_t v = 0; v < n; ++v)
        for (uint64_t e = g->row_start[v]; e < g->row_start[v + 1]; ++e) {
            const uint32_t other = graph_target(g, v, e);
            if (other == v) continue;
            if (state[v] == MIS_IN && state[other] == MIS_IN) return app_mismatch(app, "edge", e);
            const bool before = mis_priority(other) > mis_priority(v);
            if (before && state[other] == MIS_IN) excused[v] = 1;
            if (!before && state[v] == MIS_IN) excused[other] = 1;
        }
    for (uint32_t v = 0; v < n; ++v)
        if (state[v] != (excused[v] ? MIS_OUT : MIS_IN)) return app_mismatch(app, "vertex", v);
    return true;
}

bool app_mis(struct app* app) {
    unsigned scale = 4;
    while (1ull << scale < app->size && scale < RMAT_SCALE_MOST) ++scale;
    struct graph g;
    graph_generate(app, &g, scale, (uint64_t)EDGES_A_VERTEX << scale, true);
    const uint64_t n = g.vertices, bytes = n * 4;
    const struct mis_arguments a = {g.source, g.target, app_buffer(app, bytes), app_buffer(app, bytes), app_buffer(app, GPU_PAGE), g.edges, g.vertices};
    app_fill(app, a.state, n, FILL_CONSTANT, MIS_OPEN, 0, 0);
    app_fill(app, a.blocked, n, FILL_CONSTANT, 0, 0, 0);
    const struct {
        const char* kernel;
        uint64_t lanes;
    } phases[] = {{"mis_block", g.edges}, {"mis_join", n}, {"mis_leave", g.edges}, {"mis_count", n}};
    uint32_t open = 1, rounds = 0;
    bool ran = true;
    app_measure_begin(app);
    for (; open && ran && rounds < ROUNDS_MOST; ++rounds) {
        const uint64_t zero = 0;
        uint64_t count = 0;
        gpu_write(app->node, a.open, &zero, 8);
        for (unsigned p = 0; p < 4 && ran; ++p) ran = app_run_1d(app, app_kernel(app, phases[p].kernel), phases[p].lanes, 256, &a, sizeof a);
        gpu_read(app->node, &count, a.open, 8);
        open = (uint32_t)count;
    }
    app_measure_end(app);
    if (!ran) return false;
    uint32_t* state = app_host(app, bytes);
    app_download(app, state, a.state, bytes);
    uint32_t members = 0;
    for (uint32_t v = 0; v < n; ++v) members += state[v] == MIS_IN;
    console_printf("set        %u members after %u rounds\n", members, rounds);
    return open == 0 && is_greedy(app, &g, state);
}
