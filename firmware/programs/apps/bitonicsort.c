/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/arguments.h"
#include "programs/apps/app.h"

/* Sorted, and a permutation of the input: sums and sums of squares agree. */
bool app_bitonicsort(struct app* app) {
    uint64_t n = 2;
    while (n < app->size) n *= 2;
    const uint64_t bytes = n * sizeof(uint32_t);
    uint32_t* keys = app_host(app, bytes);
    uint64_t sum = 0, squares = 0;
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t key = keys[i] = (uint32_t)app_random(app);
        sum += key;
        squares += key * key;
    }
    struct bitonic_arguments a = {app_buffer(app, bytes), n / 2, 0, 0};
    app_upload(app, a.keys, keys, bytes);
    const struct gpu_kernel kernel = app_kernel(app, "bitonic");
    bool ran = true;
    app_measure_begin(app, "bitonic");
    for (a.stage = 0; 2ull << a.stage <= n && ran; ++a.stage)
        for (a.pass = 0; a.pass <= a.stage && ran; ++a.pass) ran = app_run_1d(app, kernel, a.pairs, 256, &a, sizeof a);
    app_measure_end(app);
    if (!ran) return false;
    app_download(app, keys, a.keys, bytes);
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t key = keys[i];
        sum -= key;
        squares -= key * key;
        if (i && keys[i - 1] > keys[i]) return app_mismatch(app, "key", i);
    }
    return (sum == 0 && squares == 0) || app_mismatch(app, "sum of keys", 0);
}
