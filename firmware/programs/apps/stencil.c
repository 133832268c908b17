/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/arguments.h"
#include "programs/apps/app.h"

enum { STEPS = 4 };

/* Sums of five values and a product by 1/8, in the kernel's order: the reference must round alike. */
static void step(float* to, const float* from, uint32_t n) {
    for (uint32_t y = 0; y < n; ++y)
        for (uint32_t x = 0; x < n; ++x) {
            const uint64_t at = (uint64_t)y * n + x;
            if (x == 0 || y == 0 || x == n - 1 || y == n - 1)
                to[at] = from[at];
            else
                to[at] = (from[at] * 4 + ((from[at - 1] + from[at + 1]) + (from[at - n] + from[at + n]))) * 0.125f;
        }
}

bool app_stencil(struct app* app) {
    const uint32_t n = (uint32_t)app->size;
    const uint64_t bytes = (uint64_t)n * n * sizeof(float);
    float *grid = app_host(app, bytes), *result = app_host(app, bytes), *other = app_host(app, bytes);
    for (uint64_t i = 0; i < (uint64_t)n * n; ++i) grid[i] = app_random_float(app);
    gpu_address buffer[2] = {app_buffer(app, bytes), app_buffer(app, bytes)};
    app_upload(app, buffer[0], grid, bytes);
    const struct gpu_grid launch = {.items = {n, n, 1}, .group = {64, 4, 1}};
    bool ran = true;
    app_measure_begin(app, "stencil");
    for (unsigned s = 0; s < STEPS && ran; ++s) {
        const struct stencil_arguments a = {buffer[s % 2], buffer[1 - s % 2], n, n};
        ran = app_run(app, app_kernel(app, "stencil"), &launch, &a, sizeof a);
    }
    app_measure_end(app);
    if (!ran) return false;
    app_download(app, result, buffer[STEPS % 2], bytes);
    for (unsigned s = 0; s < STEPS; s += 2) {
        step(other, grid, n);
        step(grid, other, n);
    }
    for (uint64_t i = 0; i < (uint64_t)n * n; ++i)
        if (result[i] != grid[i]) return app_mismatch(app, "cell", i);
    return true;
}
