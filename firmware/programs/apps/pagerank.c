/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/heap.h"
#include "programs/apps/app.h"
#include "programs/apps/matrix.h"

enum { ITERATIONS = 2, WAVEFRONT = 64 };

/* rank = A·rank, again and again: Hetero-Mark's PageRank, where a matrix of transitions holds damping and degrees
 * already. The reference adds what lands on each lane in the lane's order, then pairs, as lanes do. */
static float row_sum(const struct matrix* m, uint64_t row, const float* rank) {
    float part[WAVEFRONT] = {0};
    const uint32_t first = m->row_start[row];
    for (uint32_t k = first; k < m->row_start[row + 1]; ++k) {
        const struct matrix_entry e = matrix_entry(m, row, k);
        part[(k - first) % WAVEFRONT] += e.value * rank[e.column];
    }
    for (unsigned half = WAVEFRONT / 2; half; half /= 2)
        for (unsigned lane = 0; lane < half; ++lane) part[lane] += part[lane + half];
    return part[0];
}

bool app_pagerank(struct app* app) {
    struct matrix m = {0};
    const uint64_t n = app->size;
    const double density = app_option(app, "density");
    matrix_generate(app, &m, n, density, (float)(2 / (density * (double)n))); /* rows add up to one, about */
    struct spmv_arguments a = matrix_place(app, &m);
    const gpu_address rank[2] = {app_buffer(app, n * 4), app_buffer(app, n * 4)};
    float *expected = app_host(app, n * 4), *next = app_host(app, n * 4);
    for (uint64_t v = 0; v < n; ++v) expected[v] = 1.0f / (float)n;
    app_upload(app, rank[0], expected, n * 4);
    bool ran = true;
    app_measure_begin(app, "pagerank");
    for (unsigned i = 0; i < ITERATIONS && ran; ++i) {
        a.x = rank[i % 2];
        a.y = rank[1 - i % 2];
        ran = app_run_1d(app, app_kernel(app, "pagerank"), n * WAVEFRONT, WAVEFRONT, &a, sizeof a);
    }
    app_measure_end(app);
    if (!ran) return false;
    for (unsigned i = 0; i < ITERATIONS; ++i) {
        for (uint64_t v = 0; v < n; ++v) next[v] = row_sum(&m, v, expected);
        float* old = expected;
        expected = next;
        next = old;
    }
    app_download(app, next, rank[ITERATIONS % 2], n * 4);
    for (uint64_t v = 0; v < n; ++v)
        if (next[v] != expected[v]) return app_mismatch(app, "vertex", v);
    return true;
}
