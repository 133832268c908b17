/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/arguments.h"
#include "programs/apps/app.h"

/* Elements are small integers, so that every sum is exact in single precision whatever its order. */
bool app_mm(struct app* app) {
    const uint32_t n = (uint32_t)(app->size + 15) & ~15u;
    const uint64_t bytes = (uint64_t)n * n * sizeof(float);
    float *a = app_host(app, bytes), *b = app_host(app, bytes), *c = app_host(app, bytes);
    int32_t* expected = app_host(app, (uint64_t)n * sizeof *expected);
    for (uint64_t i = 0; i < (uint64_t)n * n; ++i) {
        a[i] = (float)((int)(app_random(app) % 17) - 8);
        b[i] = (float)((int)(app_random(app) % 17) - 8);
    }
    const struct mm_arguments arguments = {app_buffer(app, bytes), app_buffer(app, bytes), app_buffer(app, bytes), n};
    app_upload(app, arguments.a, a, bytes);
    app_upload(app, arguments.b, b, bytes);
    const struct gpu_grid grid = {.items = {n, n, 1}, .group = {16, 16, 1}};
    if (!app_run(app, app_kernel(app, "mm"), &grid, &arguments, sizeof arguments)) return false;
    app_download(app, c, arguments.c, bytes);
    for (uint32_t row = 0; row < n; ++row) {
        for (uint32_t column = 0; column < n; ++column) expected[column] = 0;
        for (uint32_t k = 0; k < n; ++k) {
            const int32_t factor = (int32_t)a[(uint64_t)row * n + k];
            for (uint32_t column = 0; column < n; ++column)
                expected[column] += factor * (int32_t)b[(uint64_t)k * n + column];
        }
        for (uint32_t column = 0; column < n; ++column)
            if (c[(uint64_t)row * n + column] != (float)expected[column])
                return app_mismatch(app, "element", (uint64_t)row * n + column);
    }
    return true;
}
