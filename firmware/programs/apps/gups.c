/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/gups.h"
#include "gpu/kernels/random.h"
#include "lib/console.h"
#include "programs/apps/app.h"

/* An eighth of the updates that there are entries (HPCC: four times as many); a lane makes 32 of them, so that the part
 * of the stream that is under way at a time stays as small, whatever the size. */
enum { UPDATES_A_LANE = 32, ENTRIES_AN_UPDATE = 8, MIN_ENTRIES = 4096, MAX_LOST = 100 };

/* One lane after the other, which no update is lost to. As in HPCC, one in a hundred may be wrong on the GPU; with
 * atomics none. A smaller table has all its updates under way at once, of which more than that meet. */
bool app_gups(struct app* app) {
    const bool atomics = app_option(app, "atomics") != 0;
    uint64_t entries = MIN_ENTRIES;
    while (entries < app->size) entries *= 2;
    const uint64_t bytes = entries * sizeof(uint64_t), lanes = entries / ENTRIES_AN_UPDATE / UPDATES_A_LANE,
                   updates = lanes * UPDATES_A_LANE;
    const struct gups_arguments a = {app_buffer(app, bytes), app_buffer(app, lanes * 8), entries - 1, UPDATES_A_LANE};
    uint64_t *table = app_host(app, bytes), *start = app_host(app, lanes * 8), *seen = app_host(app, bytes);
    for (uint64_t i = 0; i < entries; ++i) table[i] = i;
    uint64_t number = hash64(1); /* somewhere in the stream; near its seed, which is 1, numbers have few ones */
    for (uint64_t u = 0; u < updates; ++u) {
        if (u % UPDATES_A_LANE == 0) start[u / UPDATES_A_LANE] = number;
        number = gups_next(number);
        table[number & a.mask] ^= number;
    }
    const char* const kernel = atomics ? "gups_atomic" : "gups";
    app_upload(app, a.start, start, lanes * 8);
    app_fill(app, a.table, 2 * entries, FILL_INDEX64, 0, 0, 0);
    app_measure_begin(app, kernel);
    const bool ran = app_run_1d(app, app_kernel(app, kernel), lanes, 64, &a, sizeof a);
    app_measure_end(app);
    if (!ran) return false;
    app_download(app, seen, a.table, bytes);
    uint64_t wrong = 0, first = 0;
    for (uint64_t i = 0; i < entries; ++i)
        if (seen[i] != table[i] && !wrong++) first = i;
    if (!atomics) console_printf("lost       %lu of %lu updates\n", wrong, updates);
    return wrong <= (atomics ? 0 : updates / MAX_LOST) || app_mismatch(app, "entry", first);
}
