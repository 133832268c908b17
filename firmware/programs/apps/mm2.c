/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/arguments.h"
#include "programs/apps/app.h"

enum { RANGE = 5, SEEDS = 1 << 28 };

/* E = (A·B)·C with small integers, so that sums are exact. The reference multiplies random vectors by the factors, from
 * the left: r·E = ((r·A)·B)·C, and r·D for the product in between. */
static void times(int64_t* to, const int64_t* r, uint64_t seed, uint32_t n) {
    for (uint32_t j = 0; j < n; ++j) to[j] = 0;
    for (uint32_t i = 0; i < n; ++i)
        for (uint32_t j = 0; j < n; ++j) to[j] += r[i] * (int64_t)fill_integer(seed, (uint64_t)i * n + j, RANGE);
}

static bool product_is(struct app* app, gpu_address at, const int64_t* r, const int64_t* expected, uint32_t n,
                       const char* what) {
    const uint64_t bytes = (uint64_t)n * n * sizeof(float);
    float* m = app_host(app, bytes);
    int64_t* sum = app_host(app, n * sizeof *sum);
    app_download(app, m, at, bytes);
    for (uint32_t i = 0; i < n; ++i)
        for (uint32_t j = 0; j < n; ++j) sum[j] += r[i] * (int64_t)m[(uint64_t)i * n + j];
    for (uint32_t j = 0; j < n; ++j)
        if (sum[j] != expected[j]) return app_mismatch(app, what, j);
    return true;
}

static bool run(struct app* app, const char* kernel, uint32_t n, struct gpu_grid grid) {
    const uint64_t elements = (uint64_t)n * n, bytes = elements * sizeof(float), pitch = n * sizeof(float);
    gpu_address m[5]; /* A, B, C, D = A·B, E = D·C */
    for (unsigned i = 0; i < 5; ++i) {
        m[i] = app_buffer_as(app, bytes, i == 1 || i == 2 ? GPU_BY_COLUMNS : GPU_BY_ROWS, pitch);
        app_fill(app, m[i], elements, i < 3 ? FILL_INTEGER : FILL_CONSTANT, i < 3 ? 1 + (uint64_t)SEEDS * i : 0, RANGE,
                 0);
    }
    const struct mm_arguments first = {m[0], m[1], m[3], n}, second = {m[3], m[2], m[4], n};
    app_measure_begin(app, kernel);
    const bool ran = app_run(app, app_kernel(app, kernel), &grid, &first, sizeof first) &&
                     app_run(app, app_kernel(app, kernel), &grid, &second, sizeof second);
    app_measure_end(app);
    if (!ran) return false;
    int64_t *r = app_host(app, n * 8), *ra = app_host(app, n * 8), *rd = app_host(app, n * 8),
            *re = app_host(app, n * 8);
    for (uint32_t i = 0; i < n; ++i) r[i] = (int64_t)(app_random(app) % (1 << 16)) - (1 << 15);
    times(ra, r, 1, n);
    times(rd, ra, 1 + (uint64_t)SEEDS, n);
    times(re, rd, 1 + 2 * (uint64_t)SEEDS, n);
    return product_is(app, m[3], r, rd, n, "column of the first product,") && product_is(app, m[4], r, re, n, "column");
}

/* PolyBench/GPU's form: a lane an element, work-groups of 32×8. */
bool app_mm2(struct app* app) {
    const uint32_t n = (uint32_t)app->size;
    return run(
        app, "mm_naive", n,
        (struct gpu_grid){.items = {(n + 31) & ~31u, (n + 7) & ~7u, 1}, .group = {32, 8, 1}, .binding = GPU_BIND_ROWS});
}

bool app_mm2_tiled(struct app* app) {
    const uint32_t n = (uint32_t)(app->size + 15) & ~15u;
    return run(app, "mm", n, (struct gpu_grid){.items = {n, n, 1}, .group = {16, 16, 1}, .binding = GPU_BIND_ROWS});
}
