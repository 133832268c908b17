/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/dense.h"
#include "programs/apps/app.h"

/* Two stages: each work-group reduces its 256 words, then a few work-groups reduce the partial sums; the host adds what
 * those leave. */
bool app_reduction(struct app* app) {
    const uint64_t n = app->size, groups = (n + 255) / 256, second = app->node->count * 64ull;
    const struct reduction_arguments a = {app_buffer(app, n * 4), app_buffer(app, groups * 8), n};
    const struct sum_arguments b = {a.partial, app_buffer(app, second * 8), groups};
    app_fill(app, a.from, n, FILL_HASH, 1, 0, 0);
    app_measure_begin(app, "reduction", "sum");
    const bool ran = app_run_1d(app, app_kernel(app, "reduction"), groups * 256, 256, &a, sizeof a) &&
                     app_run_1d(app, app_kernel(app, "sum"), second * 256, 256, &b, sizeof b);
    app_measure_end(app);
    if (!ran) return false;
    uint64_t* partial = app_host(app, second * 8);
    app_download(app, partial, b.partial, second * 8);
    uint64_t sum = 0, expected = 0;
    for (uint64_t g = 0; g < second; ++g) sum += partial[g];
    for (uint64_t i = 0; i < n; ++i) expected += (uint32_t)hash64(1 + i);
    return sum == expected || app_mismatch(app, "sum", 0);
}
