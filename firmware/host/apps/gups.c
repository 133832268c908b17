/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/arguments.h"
#include "gpu/kernels/random.h"
#include "host/apps/app.h"

enum { UPDATES_A_LANE = 16, ENTRIES_AN_UPDATE = 8 };

/* Updates are atomic, so the order does not matter and the host may do them one after the other. */
bool app_gups(struct app* app) {
    uint64_t entries = 1;
    while (entries < app->size) entries *= 2;
    const uint64_t bytes = entries * sizeof(uint64_t), wanted = entries / ENTRIES_AN_UPDATE / UPDATES_A_LANE, lanes = wanted ? wanted : 1;
    const struct gups_arguments a = {app_buffer(app, bytes), entries - 1, UPDATES_A_LANE, 1};
    app_fill(app, a.table, 2 * entries, FILL_INDEX64, 0, 0, 0);
    app_measure_begin(app);
    const bool ran = app_run_1d(app, app_kernel(app, "gups"), lanes, 64, &a, sizeof a);
    app_measure_end(app);
    if (!ran) return false;
    uint64_t* table = app_host(app, bytes);
    for (uint64_t i = 0; i < entries; ++i) table[i] = i;
    for (uint64_t u = 0; u < lanes * UPDATES_A_LANE; ++u) {
        const uint64_t r = hash64(a.seed + u);
        table[r & a.mask] ^= r;
    }
    struct app_check check;
    app_check_begin(app, &check, a.table, 2 * entries);
    for (uint64_t i = 0; i < entries; ++i) {
        app_expect(&check, (uint32_t)table[i]);
        app_expect(&check, (uint32_t)(table[i] >> 32));
    }
    return app_check_end(app, &check, "block at");
}
