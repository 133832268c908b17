/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/graph.h"

#include "gpu/kernels/random.h"
#include "lib/console.h"
#include "programs/apps/graph.h"

enum { EDGES_A_VERTEX = 2, MAX_ROUNDS = 100, GROUP = 128 };

/* A maximal independent set. The one that Luby's rounds find is the greedy one in order of value, which its definition
 * proves: no member has a member beside it, and every other vertex has a member with a lower value beside it. */
static bool is_greedy(struct app* app, const struct graph* g, const int32_t* value, const int32_t* member) {
    for (uint32_t v = 0; v < g->vertices; ++v) {
        bool beside = false, before = false;
        for (uint32_t e = g->row_start[v]; e < g->row_start[v + 1]; ++e) {
            const uint32_t other = g->neighbour[e];
            beside = beside || member[other] == MIS_MEMBER;
            before = before || (member[other] == MIS_MEMBER && value[other] < value[v]);
        }
        const bool is_member = member[v] == MIS_MEMBER;
        if (is_member ? beside : !before || member[v] != 0) return app_mismatch(app, "vertex", v);
    }
    return true;
}

static gpu_address filled(struct app* app, uint32_t words, int32_t value) {
    const gpu_address to = app_buffer(app, words * 4ull);
    app_fill(app, to, words, FILL_CONSTANT, (uint32_t)value, 0, 0);
    return to;
}

bool app_mis(struct app* app) {
    unsigned scale = 4;
    while (1ull << scale < app->size && scale < GRAPH_MAX_SCALE) ++scale;
    struct graph g;
    graph_generate(app, &g, scale, (uint64_t)EDGES_A_VERTEX << scale);
    const uint32_t n = g.vertices;
    int32_t* value = app_host(app, n * 4ull);
    for (uint32_t v = 0; v < n; ++v)
        value[v] = (int32_t)((uint32_t)(hash64(v) >> 34) & ~(n - 1)) | (int32_t)v; /* no two alike */
    const struct mis_arguments a = {.row_start = app_uploaded(app, g.row_start, (n + 1ull) * 4),
                                    .neighbour = app_uploaded(app, g.neighbour, g.entries * 4),
                                    .value = app_uploaded(app, value, n * 4ull),
                                    .member = filled(app, n, 0),
                                    .status = filled(app, n, MIS_OPEN),
                                    .next_status = filled(app, n, MIS_OPEN),
                                    .lowest = filled(app, n, 0),
                                    .open = app_buffer(app, GPU_PAGE),
                                    .vertices = n};
    static const char* const phases[] = {"mis_lowest", "mis_join", "mis_leave"};
    uint64_t open = 1;
    unsigned rounds = 0;
    bool ran = true;
    app_measure_begin(app, "mis_lowest", "mis_join", "mis_leave");
    for (; open && ran && rounds < MAX_ROUNDS; ++rounds) {
        const uint64_t zero = 0;
        gpu_write(app->node, a.open, &zero, 8);
        for (unsigned p = 0; p < 3 && ran; ++p)
            ran = app_run_1d(app, app_kernel(app, phases[p]), n, GROUP, &a, sizeof a);
        gpu_read(app->node, &open, a.open, 8);
    }
    app_measure_end(app);
    if (!ran) return false;
    int32_t* member = app_host(app, n * 4ull);
    app_download(app, member, a.member, n * 4ull);
    uint32_t members = 0;
    for (uint32_t v = 0; v < n; ++v) members += member[v] == MIS_MEMBER;
    console_printf("set        %u members after %u rounds\n", members, rounds);
    return open == 0 && is_greedy(app, &g, value, member);
}
