/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/dense.h"
#include "programs/apps/app.h"

enum { SIDE = 64, CHANNELS = 3, KERNEL = 3 };

/* Images of 64×64 pixels in three colours (as in Tiny ImageNet), kernels of 3×3. The reference walks along rows of
 * pixels, not elements of the result. */
bool app_im2col(struct app* app) {
    const uint32_t batch = (uint32_t)app->size, positions = batch * SIDE * SIDE, rows = CHANNELS * KERNEL * KERNEL;
    const uint64_t in = (uint64_t)CHANNELS * positions, out = (uint64_t)rows * positions;
    const struct im2col_arguments a = {app_buffer_as(app, in * 4, GPU_BY_COLUMNS, (uint64_t)positions * 4),
                                       app_buffer_as(app, out * 4, GPU_BY_COLUMNS, (uint64_t)positions * 4),
                                       CHANNELS,
                                       batch,
                                       SIDE,
                                       SIDE,
                                       KERNEL,
                                       1,
                                       1,
                                       SIDE,
                                       SIDE};
    app_fill(app, a.image, in, FILL_HASH, 1, 0, 0);
    const struct gpu_grid grid = {.items = {positions, rows, 1}, .group = {256, 1, 1}, .binding = GPU_BIND_COLUMNS};
    app_measure_begin(app, "im2col");
    const bool ran = app_run(app, app_kernel(app, "im2col"), &grid, &a, sizeof a);
    app_measure_end(app);
    if (!ran) return false;
    struct app_check check;
    app_check_begin(app, &check, a.columns, out);
    for (uint32_t row = 0; row < rows; ++row) {
        const uint32_t channel = row / 9, down = row % 9 / 3,
                       right = row % 3; /* shifts by 0, 1, 2 stand for -1, 0, 1 */
        for (uint32_t line = 0; line < batch * SIDE; ++line) {
            const uint32_t y = line % SIDE + down;
            const bool inside = y >= 1 && y <= SIDE;
            const uint64_t from = ((uint64_t)channel * batch * SIDE + line + down - 1) * SIDE + 1;
            for (uint32_t x = right; x < right + SIDE; ++x)
                app_expect(&check, inside && x >= 1 && x <= SIDE ? (uint32_t)hash64(from + x - 1) : 0);
        }
    }
    return app_check_end(app, &check, "block at");
}
