/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/arguments.h"
#include "programs/apps/app.h"

bool app_vectoradd(struct app* app) {
    const uint64_t n = app->size, bytes = n * sizeof(float);
    float *a = app_host(app, bytes), *b = app_host(app, bytes), *c = app_host(app, bytes);
    for (uint64_t i = 0; i < n; ++i) {
        a[i] = app_random_float(app);
        b[i] = app_random_float(app);
    }
    const struct vectoradd_arguments arguments = {app_buffer(app, bytes), app_buffer(app, bytes),
                                                  app_buffer(app, bytes), n};
    app_upload(app, arguments.a, a, bytes);
    app_upload(app, arguments.b, b, bytes);
    app_measure_begin(app, "vectoradd");
    const bool ran = app_run_1d(app, app_kernel(app, "vectoradd"), n, 256, &arguments, sizeof arguments);
    app_measure_end(app);
    if (!ran) return false;
    app_download(app, c, arguments.c, bytes);
    for (uint64_t i = 0; i < n; ++i)
        if (c[i] != a[i] + b[i]) return app_mismatch(app, "element", i);
    return true;
}
