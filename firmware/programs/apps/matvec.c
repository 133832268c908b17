/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/dense.h"
#include "programs/apps/app.h"

/* atax: y = Aᵀ·(A·x). mvt: x1 += A·y1, x2 += Aᵀ·y2. Small integers, so that sums are exact in single precision; the
 * reference adds integers, a row after the other. */
enum { RANGE = 5, SEED_A = 1, SEED_VECTOR = 1 << 30, GROUP = 256, WAVEFRONT = 64 };

/* y += A·x. PolyBench/GPU's form is a lane a row; `by_wavefronts`: a wavefront a row. */
static bool times(struct app* app, gpu_address a, gpu_address x, gpu_address y, uint32_t n, bool by_wavefronts) {
    const struct matvec_arguments arguments = {a, x, y, n, n};
    return app_run_1d(app, app_kernel(app, by_wavefronts ? "matvec" : "matvec_rows"),
                      by_wavefronts ? (uint64_t)n * WAVEFRONT : n, GROUP, &arguments, sizeof arguments);
}

/* y += Aᵀ·x */
static bool times_transposed(struct app* app, gpu_address a, gpu_address x, gpu_address y, uint32_t n) {
    const struct matvec_arguments arguments = {a, x, y, n, n};
    return app_run_1d(app, app_kernel(app, "matvec_columns"), n, GROUP, &arguments, sizeof arguments);
}

static int32_t vector(unsigned which, uint64_t i) {
    return (int32_t)fill_integer(SEED_VECTOR + ((uint64_t)which << 24), i, RANGE);
}

static gpu_address make_vector(struct app* app, unsigned which, uint32_t n) {
    const gpu_address at = app_buffer(app, n * sizeof(float));
    app_fill(app, at, n, FILL_INTEGER, SEED_VECTOR + ((uint64_t)which << 24), RANGE, 0);
    return at;
}

static bool vector_is(struct app* app, gpu_address at, const int64_t* expected, uint32_t n, const char* what) {
    float* seen = app_host(app, n * sizeof *seen);
    app_download(app, seen, at, n * sizeof *seen);
    for (uint32_t i = 0; i < n; ++i)
        if (seen[i] != (float)expected[i] || expected[i] > 1 << 24 || expected[i] < -(1 << 24))
            return app_mismatch(app, what, i);
    return true;
}

static gpu_address make_matrix(struct app* app, uint32_t n) {
    const gpu_address at = app_buffer_as(app, (uint64_t)n * n * sizeof(float), GPU_BY_ROWS, n * sizeof(float));
    app_fill(app, at, (uint64_t)n * n, FILL_INTEGER, SEED_A, RANGE, 0);
    return at;
}

static bool atax(struct app* app, bool by_wavefronts) {
    const uint32_t n = (uint32_t)app->size;
    const gpu_address a = make_matrix(app, n), x = make_vector(app, 0, n), t = app_buffer(app, n * 4),
                      y = app_buffer(app, n * 4);
    app_fill(app, t, n, FILL_CONSTANT, 0, 0, 0);
    app_fill(app, y, n, FILL_CONSTANT, 0, 0, 0);
    app_measure_begin(app, by_wavefronts ? "matvec" : "matvec_rows", "matvec_columns");
    const bool ran = times(app, a, x, t, n, by_wavefronts) && times_transposed(app, a, t, y, n);
    app_measure_end(app);
    if (!ran) return false;
    int64_t *product = app_host(app, n * 8), *expected = app_host(app, n * 8);
    int32_t *row = app_host(app, n * 4), *factor = app_host(app, n * 4);
    for (uint32_t j = 0; j < n; ++j) factor[j] = vector(0, j);
    for (uint32_t i = 0; i < n; ++i) {
        int64_t sum = 0;
        for (uint32_t j = 0; j < n; ++j) {
            row[j] = (int32_t)fill_integer(SEED_A, (uint64_t)i * n + j, RANGE);
            sum += row[j] * factor[j];
        }
        product[i] = sum;
        for (uint32_t j = 0; j < n; ++j) expected[j] += row[j] * sum;
    }
    return vector_is(app, t, product, n, "element of A x,") && vector_is(app, y, expected, n, "element");
}

static bool mvt(struct app* app, bool by_wavefronts) {
    const uint32_t n = (uint32_t)app->size;
    const gpu_address a = make_matrix(app, n), x1 = make_vector(app, 0, n), x2 = make_vector(app, 1, n),
                      y1 = make_vector(app, 2, n), y2 = make_vector(app, 3, n);
    app_measure_begin(app, by_wavefronts ? "matvec" : "matvec_rows", "matvec_columns");
    const bool ran = times(app, a, y1, x1, n, by_wavefronts) && times_transposed(app, a, y2, x2, n);
    app_measure_end(app);
    if (!ran) return false;
    int64_t *first = app_host(app, n * 8), *second = app_host(app, n * 8);
    int32_t* factor = app_host(app, n * 4);
    for (uint32_t j = 0; j < n; ++j) {
        factor[j] = vector(2, j);
        second[j] = vector(1, j);
    }
    for (uint32_t i = 0; i < n; ++i) {
        int64_t sum = vector(0, i);
        const int64_t mine = vector(3, i);
        for (uint32_t j = 0; j < n; ++j) {
            const int64_t element = (int64_t)fill_integer(SEED_A, (uint64_t)i * n + j, RANGE);
            sum += element * factor[j];
            second[j] += element * mine;
        }
        first[i] = sum;
    }
    return vector_is(app, x1, first, n, "element of x1,") && vector_is(app, x2, second, n, "element of x2,");
}

bool app_atax(struct app* app) { return atax(app, false); }
bool app_atax_wavefronts(struct app* app) { return atax(app, true); }
bool app_mvt(struct app* app) { return mvt(app, false); }
bool app_mvt_wavefronts(struct app* app) { return mvt(app, true); }
