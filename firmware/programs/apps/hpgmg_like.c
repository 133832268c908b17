/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/dense.h"
#include "programs/apps/app.h"

/* One V-cycle of geometric multigrid for Poisson's equation on n³ cells: two smoothing steps down and up, cell averages
 * between levels, eight smoothing steps on the coarsest. The reference repeats it on the host, level by level. */
enum { LEVELS = 8, COARSEST = 4, STEPS = 2, BOTTOM_STEPS = 8 };

struct level {
    uint32_t n;
    gpu_address u, other, right; /* `other` takes turns with u, and holds residuals */
    double *host_u, *host_other, *host_right;
};

static uint64_t cells(const struct level* l) { return (uint64_t)l->n * l->n * l->n; }

static bool sweep(struct app* app, const char* kernel, gpu_address from, gpu_address right, gpu_address to,
                  uint32_t n) {
    const struct multigrid_arguments a = {from, right, to, n};
    const struct gpu_grid grid = {
        .items = {n, n, n}, .group = {n < 64 ? (uint16_t)n : 64, 4, 1}, .binding = GPU_BIND_KERNEL};
    return app_run(app, app_kernel(app, kernel), &grid, &a, sizeof a);
}

static bool smooth(struct app* app, struct level* l, unsigned steps) {
    for (unsigned s = 0; s < steps; ++s) {
        if (!sweep(app, "mg_smooth", l->u, l->right, l->other, l->n)) return false;
        const gpu_address u = l->u;
        l->u = l->other;
        l->other = u;
    }
    return true;
}

static bool cycle(struct app* app, struct level* l, unsigned levels) {
    if (levels == 1) return smooth(app, l, BOTTOM_STEPS);
    if (!smooth(app, l, STEPS) || !sweep(app, "mg_residual", l->u, l->right, l->other, l->n) ||
        !sweep(app, "mg_restrict", l->other, 0, l[1].right, l[1].n))
        return false;
    app_fill(app, l[1].u, 2 * cells(l + 1), FILL_CONSTANT, 0, 0, 0);
    return cycle(app, l + 1, levels - 1) && sweep(app, "mg_prolong", l[1].u, 0, l->u, l->n) && smooth(app, l, STEPS);
}

/* ---- the same on the host ---- */

static double around(const double* u, uint32_t n, uint32_t x, uint32_t y, uint32_t z) {
    const double* c = u + ((uint64_t)z * n + y) * n + x;
    const int64_t line = n, plane = (int64_t)n * n;
    const double across = (x ? c[-1] : 0) + (x + 1 < n ? c[1] : 0),
                 along = (y ? c[-line] : 0) + (y + 1 < n ? c[line] : 0);
    return (across + along) + ((z ? c[-plane] : 0) + (z + 1 < n ? c[plane] : 0));
}

static void host_apply(struct level* l, bool smoothing) {
    const uint32_t n = l->n;
    uint64_t at = 0;
    for (uint32_t z = 0; z < n; ++z)
        for (uint32_t y = 0; y < n; ++y)
            for (uint32_t x = 0; x < n; ++x, ++at) {
                const double u = l->host_u[at], residual = (l->host_right[at] + around(l->host_u, n, x, y, z)) - 6 * u;
                l->host_other[at] = smoothing ? u + residual * (1.0 / 7) : residual;
            }
}

static void host_smooth(struct level* l, unsigned steps) {
    for (unsigned s = 0; s < steps; ++s) {
        host_apply(l, true);
        double* u = l->host_u;
        l->host_u = l->host_other;
        l->host_other = u;
    }
}

static void host_cycle(struct level* l, unsigned levels) {
    if (levels == 1) return host_smooth(l, BOTTOM_STEPS);
    host_smooth(l, STEPS);
    host_apply(l, false);
    struct level* below = l + 1;
    const uint64_t n = below->n, fine = l->n;
    for (uint64_t at = 0; at < cells(below); ++at) {
        const double* f = l->host_other + ((at / (n * n) * fine + at / n % n) * fine + at % n) * 2;
        double quarter[4];
        for (unsigned q = 0; q < 4; ++q) {
            const double* pair = f + (q / 2) * fine * fine + (q % 2) * fine;
            quarter[q] = pair[0] + pair[1];
        }
        below->host_right[at] = 0.5 * ((quarter[0] + quarter[1]) + (quarter[2] + quarter[3]));
        below->host_u[at] = 0;
    }
    host_cycle(below, levels - 1);
    for (uint64_t z = 0, at = 0; z < fine; ++z)
        for (uint64_t y = 0; y < fine; ++y)
            for (uint64_t x = 0; x < fine; ++x, ++at) l->host_u[at] += below->host_u[(z / 2 * n + y / 2) * n + x / 2];
    host_smooth(l, STEPS);
}

bool app_hpgmg_like(struct app* app) {
    struct level level[LEVELS] = {{.n = COARSEST}};
    while (level[0].n < app->size && level[0].n < COARSEST << (LEVELS - 1)) level[0].n *= 2;
    unsigned levels = 0;
    for (uint32_t n = level[0].n; n >= COARSEST && levels < LEVELS; n /= 2, ++levels) {
        struct level* l = &level[levels];
        l->n = n;
        const uint64_t bytes = cells(l) * sizeof(double);
        l->u = app_buffer(app, bytes);
        l->other = app_buffer(app, bytes);
        l->right = app_buffer(app, bytes);
        l->host_u = app_host(app, bytes);
        l->host_other = app_host(app, bytes);
        l->host_right = app_host(app, bytes);
    }
    app_fill(app, level[0].u, 2 * cells(level), FILL_CONSTANT, 0, 0, 0);
    app_fill(app, level[0].right, 2 * cells(level), FILL_HASH, 1, 0, 0);
    /* Random bits, as signed numbers, become -1 ≤ x < 1. */
    const struct multigrid_arguments scale = {0, 0, level[0].right, level[0].n};
    const struct gpu_grid line = {.items = {(uint32_t)cells(level), 1, 1}, .group = {256, 1, 1}};
    if (!app_run(app, app_kernel(app, "mg_source"), &line, &scale, sizeof scale)) return false;
    app_measure_begin(app, "mg_smooth", "mg_residual", "mg_restrict", "mg_prolong");
    const bool ran = cycle(app, level, levels);
    app_measure_end(app);
    if (!ran) return false;

    for (uint64_t i = 0; i < cells(level); ++i) {
        const uint64_t bits = (uint64_t)(uint32_t)hash64(2 + 2 * i) << 32 | (uint32_t)hash64(1 + 2 * i);
        level[0].host_right[i] = (double)(int64_t)bits * 0x1p-63;
    }
    host_cycle(level, levels);
    return app_doubles_are(app, level[0].u, level[0].host_u, cells(level), "block at");
}
