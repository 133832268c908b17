/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/arguments.h"
#include "gpu/kernels/random.h"
#include "host/apps/app.h"

enum { UPDATES_A_LANE = 16 };

/* Updates are atomic, so the order does not matter and the host may do them one after the other. */
bool app_gups(struct app* app) {
    uint64_t entries = 1;
    while (entries < app->size) entries *= 2;
    const uint64_t bytes = entries * sizeof(uint64_t), lanes = entries / 4 / UPDATES_A_LANE ? entries / 4 / UPDATES_A_LANE : 1;
    uint64_t *table = app_host(app, bytes), *result = app_host(app, bytes);
    for (uint64_t i = 0; i < entries; ++i) table[i] = i;
    const struct gups_arguments a = {app_buffer(app, bytes), entries - 1, UPDATES_A_LANE, 1};
    app_upload(app, a.table, table, bytes);
    if (!app_run_1d(app, app_kernel(app, "gups"), lanes, 64, &a, sizeof a)) return false;
    app_download(app, result, a.table, bytes);
    for (uint64_t lane = 0; lane < (lanes + 63) / 64 * 64; ++lane)
        for (uint64_t u = 0; u < UPDATES_A_LANE; ++u) {
            if (lane >= lanes) break;
            const uint64_t r = hash64(a.seed + lane * UPDATES_A_LANE + u);
            table[r & a.mask] ^= r;
        }
    for (uint64_t i = 0; i < entries; ++i)
        if (result[i] != table[i]) return app_mismatch(app, "entry", i);
    return true;
}
