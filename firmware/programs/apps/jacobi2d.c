/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/arguments.h"
#include "programs/apps/app.h"

enum { STEPS = 2 };

/* The reference keeps three rows of each step and works its way down. */
bool app_jacobi2d(struct app* app) {
    const uint32_t n = (uint32_t)app->size;
    const uint64_t cells = (uint64_t)n * n, pitch = n * sizeof(float);
    const gpu_address buffer[2] = {app_buffer_as(app, cells * 4, GPU_BY_ROWS, pitch),
                                   app_buffer_as(app, cells * 4, GPU_BY_ROWS, pitch)};
    app_fill(app, buffer[0], cells, FILL_UNIFORM, 1, 0, 1);
    const struct gpu_grid grid = {.items = {n, n, 1}, .group = {64, 4, 1}, .binding = GPU_BIND_ROWS};
    bool ran = true;
    app_measure_begin(app, "jacobi2d");
    for (unsigned s = 0; s < STEPS && ran; ++s) {
        const struct stencil_arguments a = {buffer[s % 2], buffer[1 - s % 2], n, n};
        ran = app_run(app, app_kernel(app, "jacobi2d"), &grid, &a, sizeof a);
    }
    app_measure_end(app);
    if (!ran) return false;

    struct app_check check;
    app_check_begin(app, &check, buffer[STEPS % 2], cells);
    float* rows[STEPS + 1][3]; /* row y of step s is rows[s][y % 3] */
    for (unsigned s = 0; s <= STEPS; ++s)
        for (unsigned i = 0; i < 3; ++i) rows[s][i] = app_host(app, pitch);
    for (uint32_t front = 0; front < n + STEPS; ++front) {
        if (front < n)
            for (uint32_t x = 0; x < n; ++x) rows[0][front % 3][x] = fill_uniform(1, (uint64_t)front * n + x, 1);
        for (uint32_t s = 1; s <= STEPS; ++s) {
            if (front < s || front - s >= n) continue;
            const uint32_t y = front - s;
            const float *here = rows[s - 1][y % 3], *above = rows[s - 1][(y + 2) % 3],
                        *below = rows[s - 1][(y + 1) % 3];
            float* to = rows[s][y % 3];
            for (uint32_t x = 0; x < n; ++x) {
                const bool border = x == 0 || y == 0 || x == n - 1 || y == n - 1;
                to[x] = border ? here[x] : 0.2f * (((here[x] + here[x - 1]) + (here[x + 1] + below[x])) + above[x]);
                if (s == STEPS) app_expect_float(&check, to[x]);
            }
        }
    }
    return app_check_end(app, &check, "block at");
}
