/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/arguments.h"
#include "programs/apps/app.h"

enum { SAMPLES = 16 };

/* x·m for a random x, by lanes. The host computes some of the elements, in the order of the lanes' additions, whose
 * numbers are whole and exact in double precision. */
struct product {
    const float* m;
    const double* x;
    gpu_address to;
    double* seen;
};

static void start_product(struct app* app, struct product* p, gpu_address m, gpu_address x, uint32_t n) {
    p->to = app_buffer(app, n * sizeof *p->seen);
    p->seen = app_host(app, n * sizeof *p->seen);
    const struct column_products_arguments arguments = {m, x, p->to, n};
    app_run_1d(app, app_kernel(app, "column_products"), n, 64, &arguments, sizeof arguments);
    app_download(app, p->seen, p->to, n * sizeof *p->seen);
}

static bool product_is_right(struct app* app, const struct product* p, uint32_t n) {
    for (unsigned k = 0; k < SAMPLES; ++k) {
        const uint64_t column = app_random(app) % n;
        double sum = 0;
        for (uint64_t row = 0; row < n; ++row) sum += p->x[row] * (double)p->m[row * n + column];
        if (p->seen[column] != sum) return app_mismatch(app, "column", column);
    }
    return true;
}

/* Elements are small integers, so that every sum is exact in single precision whatever its order. The reference
 * multiplies a random vector r instead of matrices (Freivalds): r·C = (r·A)·B. Lanes do that with a kernel of its own,
 * of which the host repeats samples, so that the check costs the host n instead of n² steps. No element of r is 0, so a
 * single wrong element of C always shows. */
static bool is_right(struct app* app, const struct mm_arguments* device, const float* a, const float* b, uint32_t n) {
    float* c = app_host(app, (uint64_t)n * n * sizeof *c);
    double* r = app_host(app, n * sizeof *r);
    app_download(app, c, device->c, (uint64_t)n * n * sizeof *c);
    for (uint32_t i = 0; i < n; ++i) r[i] = (double)((int)(app_random(app) % (1 << 15)) * 2 + 1 - (1 << 15));
    const gpu_address at = app_uploaded(app, r, n * sizeof *r);
    struct product ra = {.m = a, .x = r}, rab = {.m = b}, rc = {.m = c, .x = r};
    start_product(app, &ra, device->a, at, n);
    start_product(app, &rab, device->b, ra.to, n);
    start_product(app, &rc, device->c, at, n);
    rab.x = ra.seen;
    if (app->failed || !product_is_right(app, &ra, n) || !product_is_right(app, &rab, n) ||
        !product_is_right(app, &rc, n))
        return false;
    for (uint32_t column = 0; column < n; ++column)
        if (rc.seen[column] != rab.seen[column]) return app_mismatch(app, "column", column);
    return true;
}

bool app_mm(struct app* app) {
    const uint32_t n = (uint32_t)(app->size + 15) & ~15u;
    const uint64_t bytes = (uint64_t)n * n * sizeof(float);
    float *a = app_host(app, bytes), *b = app_host(app, bytes);
    for (uint64_t i = 0; i < (uint64_t)n * n; ++i) {
        a[i] = (float)((int)(app_random(app) % 17) - 8);
        b[i] = (float)((int)(app_random(app) % 17) - 8);
    }
    const struct mm_arguments arguments = {app_buffer(app, bytes), app_buffer(app, bytes), app_buffer(app, bytes), n};
    app_upload(app, arguments.a, a, bytes);
    app_upload(app, arguments.b, b, bytes);
    const struct gpu_grid grid = {.items = {n, n, 1}, .group = {16, 16, 1}};
    app_measure_begin(app, "mm");
    const bool ran = app_run(app, app_kernel(app, "mm"), &grid, &arguments, sizeof arguments);
    app_measure_end(app);
    return ran && is_right(app, &arguments, a, b, n);
}
