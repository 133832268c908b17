/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/arguments.h"
#include "programs/apps/app.h"

enum { ROUNDS = 4 };

/* Every lane takes a spin lock ROUNDS times; in every wavefront, lane 0 hands numbers to lane 63. */
bool app_locks(struct app* app) {
    const uint64_t lanes = (app->size + 63) & ~63ull, waves = lanes / 64;
    uint64_t* results = app_host(app, (waves + 1) * sizeof *results);
    const gpu_address shared = app_buffer(app, GPU_PAGE), mailbox = app_buffer(app, waves * 64),
                      received = app_buffer(app, (waves + 1) * 8);
    const struct locks_arguments a = {shared, shared + 64, mailbox, received, ROUNDS};
    app_upload(app, shared, app_host(app, 128), 128);
    app_upload(app, mailbox, app_host(app, waves * 64), waves * 64);
    app_upload(app, received, results, (waves + 1) * 8);
    app_measure_begin(app, "locks");
    const bool ran = app_run_1d(app, app_kernel(app, "locks"), lanes, 64, &a, sizeof a);
    app_measure_end(app);
    if (!ran) return false;
    uint64_t counter[8];
    app_download(app, results, received, waves * 8);
    gpu_read(app->node, counter, a.counter, 8);
    if (counter[0] != lanes * ROUNDS) return app_mismatch(app, "count", counter[0]);
    for (uint64_t w = 0; w < waves; ++w)
        if (results[w] != ROUNDS * (ROUNDS + 1) / 2 * (w + 1)) return app_mismatch(app, "wavefront", w);
    return true;
}
