/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/survey.h"

#include "gpu/kernels/random.h"
#include "programs/apps/app.h"

enum {
    ITERATIONS = 2,
    CLAUSES_PER_TEN = 42,
    SEED = 1,
    GROUP = SURVEY_GROUP
}; /* 4.2 clauses a variable: hard formulas */

struct formula {
    uint32_t variables, clauses, edges;
    uint32_t *literal, *row_start, *edge;
};

static void draw(struct app* app, struct formula* f, uint32_t variables) {
    f->variables = variables;
    f->clauses = (uint32_t)((uint64_t)variables * CLAUSES_PER_TEN / 10);
    f->edges = f->clauses * SURVEY_LITERALS;
    f->literal = app_host(app, f->edges * 4ull);
    f->row_start = app_host(app, (variables + 1ull) * 4);
    f->edge = app_host(app, f->edges * 4ull);
    for (uint32_t e = 0; e < f->edges; ++e) {
        const uint64_t random = hash64(e);
        f->literal[e] = fill_below(random, variables) * 2 + (uint32_t)(random & 1);
        ++f->row_start[f->literal[e] / 2];
    }
    uint32_t total = 0;
    for (uint32_t v = 0; v <= variables; ++v) { /* where each row ends; filling it from behind leaves where it starts */
        total += v < variables ? f->row_start[v] : 0;
        f->row_start[v] = total;
    }
    for (uint32_t e = f->edges; e-- > 0;) f->edge[--f->row_start[f->literal[e] / 2]] = e;
}

/* The reference first gathers, variable by variable, what each edge needs, then goes through the clauses. */
static float step(struct app* app, const struct formula* f, const float* survey, float* next) {
    float *away = app_host(app, f->edges * 4ull), largest = 0;
    for (uint32_t v = 0; v < f->variables; ++v)
        for (uint32_t own = f->row_start[v]; own < f->row_start[v + 1]; ++own) {
            float product[2] = {1, 1}; /* by sign */
            for (uint32_t k = f->row_start[v]; k < f->row_start[v + 1]; ++k)
                if (k != own) product[f->literal[f->edge[k]] & 1] *= 1 - survey[f->edge[k]];
            const unsigned sign = f->literal[f->edge[own]] & 1;
            const float same = product[sign], opposite = product[1 - sign], against = (1 - opposite) * same;
            away[f->edge[own]] = against / (against + (1 - same) * opposite + same * opposite);
        }
    for (uint32_t e = 0; e < f->edges; ++e) {
        const uint32_t first = e - e % SURVEY_LITERALS;
        next[e] = away[first + (e - first + 1) % SURVEY_LITERALS] * away[first + (e - first + 2) % SURVEY_LITERALS];
        const float change = next[e] - survey[e];
        if (change > largest || -change > largest) largest = change < 0 ? -change : change;
    }
    return largest;
}

static bool bias_is(struct app* app, const struct formula* f, const float* survey, gpu_address at) {
    float* seen = app_host(app, f->variables * 4ull);
    app_download(app, seen, at, f->variables * 4ull);
    for (uint32_t v = 0; v < f->variables; ++v) {
        float product[2] = {1, 1};
        for (uint32_t k = f->row_start[v]; k < f->row_start[v + 1]; ++k)
            product[f->literal[f->edge[k]] & 1] *= 1 - survey[f->edge[k]];
        const float one = (1 - product[0]) * product[1], zero = (1 - product[1]) * product[0];
        const float lead = one > zero ? one - zero : zero - one;
        if (seen[v] != lead / (one + zero + product[0] * product[1])) return app_mismatch(app, "bias", v);
    }
    return true;
}

bool app_sp_like(struct app* app) {
    struct formula f;
    draw(app, &f, (uint32_t)app->size);
    const uint64_t bytes = f.edges * 4ull;
    struct survey_arguments a = {.literal = app_uploaded(app, f.literal, bytes),
                                 .row_start = app_uploaded(app, f.row_start, (f.variables + 1ull) * 4),
                                 .edge = app_uploaded(app, f.edge, bytes),
                                 .bias = app_buffer(app, f.variables * 4ull),
                                 .change = app_buffer(app, GPU_PAGE),
                                 .clauses = f.clauses,
                                 .variables = f.variables};
    float *survey = app_host(app, bytes), *next = app_host(app, bytes), change = 0;
    for (uint32_t e = 0; e < f.edges; ++e) survey[e] = (float)(hash64(SEED + ~(uint64_t)e) >> 40) * 0x1p-24f;
    const gpu_address buffer[2] = {app_uploaded(app, survey, bytes), app_buffer(app, bytes)};
    bool ran = true;
    app_measure_begin(app, "survey_update", "survey_bias");
    for (unsigned i = 0; i < ITERATIONS && ran; ++i) {
        const uint64_t zero = 0;
        gpu_write(app->node, a.change, &zero, 8);
        a.survey = buffer[i % 2];
        a.next = buffer[1 - i % 2];
        ran = app_run_1d(app, app_kernel(app, "survey_update"), f.clauses, GROUP, &a, sizeof a);
    }
    a.survey = buffer[ITERATIONS % 2];
    ran = ran && app_run_1d(app, app_kernel(app, "survey_bias"), f.variables, GROUP, &a, sizeof a);
    app_measure_end(app);
    if (!ran) return false;
    for (unsigned i = 0; i < ITERATIONS; ++i) {
        change = step(app, &f, survey, next);
        float* old = survey;
        survey = next;
        next = old;
    }
    float largest[2];
    gpu_read(app->node, largest, a.change, 8);
    if (largest[0] != change) return app_mismatch(app, "change after iteration", ITERATIONS);
    app_download(app, next, a.survey, bytes);
    for (uint32_t e = 0; e < f.edges; ++e)
        if (next[e] != survey[e]) return app_mismatch(app, "survey", e);
    return bias_is(app, &f, survey, a.bias);
}
