/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/arguments.h"
#include "programs/apps/app.h"

enum { WORDS_A_LANE = 16, GROUP = 256 };

bool app_histogram(struct app* app) {
    const uint64_t words = app->size / 4, bytes = words * 4;
    /* Whole work-groups: all lanes of one take their share of the bins. */
    const uint64_t lanes = (words + WORDS_A_LANE * GROUP - 1) / (WORDS_A_LANE * GROUP) * GROUP;
    const uint64_t bin_bytes = HISTOGRAM_BINS * sizeof(uint32_t);
    uint32_t *from = app_host(app, bytes), *bins = app_host(app, bin_bytes), *expected = app_host(app, bin_bytes);
    for (uint64_t i = 0; i < words; ++i) {
        const uint64_t r = app_random(app);
        from[i] = (uint32_t)(r & r >> 32); /* bits that are more often 0, so that bins differ */
    }
    const struct histogram_arguments a = {app_buffer(app, bytes), app_buffer(app, bin_bytes), words, WORDS_A_LANE};
    app_upload(app, a.from, from, bytes);
    app_upload(app, a.bins, bins, bin_bytes);
    app_measure_begin(app, "histogram");
    const bool ran = app_run_1d(app, app_kernel(app, "histogram"), lanes, GROUP, &a, sizeof a);
    app_measure_end(app);
    if (!ran) return false;
    app_download(app, bins, a.bins, bin_bytes);
    const uint8_t* samples = (const uint8_t*)from;
    for (uint64_t i = 0; i < bytes; ++i) ++expected[samples[i]];
    for (unsigned b = 0; b < HISTOGRAM_BINS; ++b)
        if (bins[b] != expected[b]) return app_mismatch(app, "bin", b);
    return true;
}
