/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/arguments.h"
#include "host/apps/app.h"

bool app_transpose(struct app* app) {
    const uint32_t n = (uint32_t)(app->size + 15) & ~15u;
    const uint64_t bytes = (uint64_t)n * n * sizeof(uint32_t);
    uint32_t *from = app_host(app, bytes), *to = app_host(app, bytes);
    for (uint64_t i = 0; i < (uint64_t)n * n; ++i) from[i] = (uint32_t)app_random(app);
    const struct transpose_arguments a = {app_buffer(app, bytes), app_buffer(app, bytes), n, n};
    app_upload(app, a.from, from, bytes);
    const struct gpu_grid grid = {.items = {n, n, 1}, .group = {16, 16, 1}};
    if (!app_run(app, app_kernel(app, "transpose"), &grid, &a, sizeof a)) return false;
    app_download(app, to, a.to, bytes);
    for (uint32_t row = 0; row < n; ++row)
        for (uint32_t column = 0; column < n; ++column)
            if (to[(uint64_t)column * n + row] != from[(uint64_t)row * n + column])
                return app_mismatch(app, "element", (uint64_t)column * n + row);
    return true;
}
