/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/dense.h"
#include "programs/apps/app.h"

enum { RANGE = 9, SEED_A = 1, SEED_B = 1 << 28, SEED_C = 1 << 29 };

/* What is to come out: C = alpha·(A·Bᵀ + B·Aᵀ) + beta·C; `lower`: on and below the diagonal, C stays above. */
struct form {
    const char* kernel;
    uint32_t n;
    int32_t alpha, beta;
    bool lower;
    struct gpu_grid grid;
};

/* Elements are small integers, so that sums are exact. The reference works with integers, row against row. */
static bool run(struct app* app, const struct form* f) {
    const uint32_t n = f->n;
    const uint64_t elements = (uint64_t)n * n, bytes = elements * sizeof(float), pitch = n * sizeof(float);
    const struct syr2k_arguments a = {app_buffer_as(app, bytes, GPU_BY_ROWS, pitch),
                                      app_buffer_as(app, bytes, GPU_BY_ROWS, pitch),
                                      app_buffer_as(app, bytes, GPU_BY_ROWS, pitch),
                                      n,
                                      n,
                                      (float)f->alpha,
                                      (float)f->beta};
    app_fill(app, a.a, elements, FILL_INTEGER, SEED_A, RANGE, 0);
    app_fill(app, a.b, elements, FILL_INTEGER, SEED_B, RANGE, 0);
    app_fill(app, a.c, elements, FILL_INTEGER, SEED_C, RANGE, 0);
    app_measure_begin(app, f->kernel);
    const bool ran = app_run(app, app_kernel(app, f->kernel), &f->grid, &a, sizeof a);
    app_measure_end(app);
    if (!ran) return false;

    /* Check with random vectors r: C·r - beta·C₀·r must be alpha·(A·(Bᵀ·r) + B·(Aᵀ·r)), once a lower half is mirrored.
     */
    float* c = app_host(app, bytes);
    app_download(app, c, a.c, bytes);
    int64_t *r = app_host(app, n * 8), *ar = app_host(app, n * 8), *br = app_host(app, n * 8),
            *cr = app_host(app, n * 8);
    int32_t *left = app_host(app, elements * 4), *right = app_host(app, elements * 4);
    for (uint32_t i = 0; i < n; ++i) r[i] = (int64_t)(app_random(app) % (1 << 20)) - (1 << 19);
    for (uint64_t i = 0; i < elements; ++i) {
        left[i] = (int32_t)fill_integer(SEED_A, i, RANGE);
        right[i] = (int32_t)fill_integer(SEED_B, i, RANGE);
    }
    for (uint32_t i = 0; i < n; ++i)
        for (uint32_t k = 0; k < n; ++k) {
            const uint64_t at = (uint64_t)i * n + k;
            ar[k] += left[at] * r[i];
            br[k] += right[at] * r[i];
        }
    for (uint32_t i = 0; i < n; ++i)
        for (uint32_t j = 0; j < (f->lower ? i + 1 : n); ++j) {
            const uint64_t at = (uint64_t)i * n + j;
            const int64_t value = (int64_t)c[at] - f->beta * (int64_t)fill_integer(SEED_C, at, RANGE);
            cr[i] += value * r[j];
            if (f->lower && i != j) cr[j] += value * r[i];
        }
    for (uint32_t i = 0; i < n; ++i) {
        int64_t expected = 0;
        for (uint32_t k = 0; k < n; ++k)
            expected += left[(uint64_t)i * n + k] * br[k] + right[(uint64_t)i * n + k] * ar[k];
        if (cr[i] != f->alpha * expected) return app_mismatch(app, "row", i);
        for (uint32_t j = i + 1; j < n && f->lower; ++j)
            if (c[(uint64_t)i * n + j] != fill_integer(SEED_C, (uint64_t)i * n + j, RANGE))
                return app_mismatch(app, "upper row", i);
    }
    return true;
}

/* PolyBench/GPU's form: a lane an element of the whole square, work-groups of 32×8. */
bool app_syr2k(struct app* app) {
    const uint32_t n = (uint32_t)app->size;
    const struct form f = {
        "syr2k", n,     2,
        3,       false, {.items = {(n + 31) & ~31u, (n + 7) & ~7u, 1}, .group = {32, 8, 1}, .binding = GPU_BIND_ROWS}};
    return run(app, &f);
}

bool app_syr2k_tiled(struct app* app) {
    const uint32_t n = (uint32_t)(app->size + 15) & ~15u;
    const struct form f = {
        "syr2k_tiled", n, 1, 1, true, {.items = {n, n, 1}, .group = {16, 16, 1}, .binding = GPU_BIND_ROWS}};
    return run(app, &f);
}
