/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/arguments.h"
#include "programs/apps/app.h"

/* The reference multiplies and adds in doubles, in the other order; samples are small multiples of 2^-6 and taps of
 * 2^-4, so that every sum is exact in both. */
bool app_fir(struct app* app) {
    const uint64_t n = app->size, in = (n + FIR_TAPS - 1) * sizeof(float), out = n * sizeof(float);
    float *x = app_host(app, in), *h = app_host(app, FIR_TAPS * sizeof(float)), *y = app_host(app, out);
    for (uint64_t i = 0; i < n + FIR_TAPS - 1; ++i) x[i] = (float)((int)(app_random(app) % 2048) - 1024) / 64;
    for (unsigned k = 0; k < FIR_TAPS; ++k) h[k] = (float)((int)(app_random(app) % 64) - 32) / 16;
    const struct fir_arguments a = {app_buffer(app, in), app_buffer(app, FIR_TAPS * sizeof(float)),
                                    app_buffer(app, out), n};
    app_upload(app, a.x, x, in);
    app_upload(app, a.h, h, FIR_TAPS * sizeof(float));
    app_measure_begin(app, "fir");
    const bool ran = app_run_1d(app, app_kernel(app, "fir"), n, 256, &a, sizeof a);
    app_measure_end(app);
    if (!ran) return false;
    app_download(app, y, a.y, out);
    for (uint64_t i = 0; i < n; ++i) {
        double sum = 0;
        for (unsigned k = FIR_TAPS; k-- > 0;) sum += (double)x[i + k] * h[k];
        if (y[i] != (float)sum) return app_mismatch(app, "sample", i);
    }
    return true;
}
