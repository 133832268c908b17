/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/arguments.h"
#include "programs/apps/app.h"

bool app_transpose(struct app* app) {
    const uint32_t n = (uint32_t)(app->size + 15) & ~15u;
    const uint64_t elements = (uint64_t)n * n, bytes = elements * sizeof(uint32_t), pitch = n * sizeof(uint32_t);
    const struct transpose_arguments a = {app_buffer_as(app, bytes, GPU_BY_ROWS, pitch),
                                          app_buffer_as(app, bytes, GPU_BY_COLUMNS, pitch), n, n};
    app_fill(app, a.from, elements, FILL_HASH, 1, 0, 0);
    const struct gpu_grid grid = {.items = {n, n, 1}, .group = {16, 16, 1}, .binding = GPU_BIND_ROWS};
    app_measure_begin(app, "transpose");
    const bool ran = app_run(app, app_kernel(app, "transpose"), &grid, &a, sizeof a);
    app_measure_end(app);
    if (!ran) return false;
    struct app_check check;
    app_check_begin(app, &check, a.to, elements);
    for (uint32_t row = 0; row < n; ++row)
        for (uint32_t column = 0; column < n; ++column)
            app_expect(&check, (uint32_t)hash64(1 + (uint64_t)column * n + row));
    return app_check_end(app, &check, "block at");
}
