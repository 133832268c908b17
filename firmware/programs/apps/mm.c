/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/arguments.h"
#include "programs/apps/app.h"

/* Elements are small integers, so that every sum is exact in single precision whatever its order. The reference
 * multiplies a random vector r instead of matrices (Freivalds): C·r = A·(B·r), whose sums double precision holds
 * exactly. No element of r is 0, so a single wrong element of C always shows. */
static void times(double* to, const float* m, const double* r, uint32_t n) {
    for (uint32_t row = 0; row < n; ++row) {
        const float* at = m + (uint64_t)row * n;
        double sum = 0;
        for (uint32_t k = 0; k < n; ++k) sum += (double)at[k] * r[k];
        to[row] = sum;
    }
}

bool app_mm(struct app* app) {
    const uint32_t n = (uint32_t)(app->size + 15) & ~15u;
    const uint64_t bytes = (uint64_t)n * n * sizeof(float);
    float *a = app_host(app, bytes), *b = app_host(app, bytes), *c = app_host(app, bytes);
    double *r = app_host(app, n * sizeof *r), *br = app_host(app, n * sizeof *br),
           *abr = app_host(app, n * sizeof *abr), *cr = app_host(app, n * sizeof *cr);
    for (uint64_t i = 0; i < (uint64_t)n * n; ++i) {
        a[i] = (float)((int)(app_random(app) % 17) - 8);
        b[i] = (float)((int)(app_random(app) % 17) - 8);
    }
    const struct mm_arguments arguments = {app_buffer(app, bytes), app_buffer(app, bytes), app_buffer(app, bytes), n};
    app_upload(app, arguments.a, a, bytes);
    app_upload(app, arguments.b, b, bytes);
    const struct gpu_grid grid = {.items = {n, n, 1}, .group = {16, 16, 1}};
    app_measure_begin(app);
    const bool ran = app_run(app, app_kernel(app, "mm"), &grid, &arguments, sizeof arguments);
    app_measure_end(app);
    if (!ran) return false;
    app_download(app, c, arguments.c, bytes);
    for (uint32_t i = 0; i < n; ++i) r[i] = (double)((int)(app_random(app) % (1 << 15)) * 2 + 1 - (1 << 15));
    times(br, b, r, n);
    times(abr, a, br, n);
    times(cr, c, r, n);
    for (uint32_t row = 0; row < n; ++row)
        if (cr[row] != abr[row]) return app_mismatch(app, "row", row);
    return true;
}
