/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/arguments.h"
#include "host/apps/app.h"

bool app_reduction(struct app* app) {
    const uint64_t n = app->size, groups = (n + 255) / 256;
    uint32_t* from = app_host(app, n * sizeof *from);
    uint64_t* partial = app_host(app, groups * sizeof *partial);
    uint64_t expected = 0;
    for (uint64_t i = 0; i < n; ++i) expected += from[i] = (uint32_t)app_random(app);
    const struct reduction_arguments a = {app_buffer(app, n * sizeof *from), app_buffer(app, groups * sizeof *partial), n};
    app_upload(app, a.from, from, n * sizeof *from);
    if (!app_run_1d(app, app_kernel(app, "reduction"), groups * 256, 256, &a, sizeof a)) return false;
    app_download(app, partial, a.partial, groups * sizeof *partial);
    uint64_t sum = 0;
    for (uint64_t g = 0; g < groups; ++g) sum += partial[g];
    return sum == expected || app_mismatch(app, "sum", 0);
}
