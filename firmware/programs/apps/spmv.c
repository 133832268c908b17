/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/console.h"
#include "programs/apps/app.h"
#include "programs/apps/matrix.h"

#define SCALE 10.0f /* values are below it, as in SHOC */

/* y = A·x. A comes from a Matrix Market file in the RAM disk, or is generated. The reference sums each row in the same
 * order, with separate multiplication and addition, as the kernel does. */
bool app_spmv(struct app* app) {
    struct matrix m = {0};
    const char* text;
    uint64_t bytes, line;
    if (matrix_file(&text, &bytes)) {
        const char* wrong = matrix_read(app, &m, text, bytes, &line);
        if (wrong) {
            console_printf("matrix, line %lu: %s\n", line, wrong);
            return false;
        }
    } else {
        matrix_generate(app, &m, app->size, app_option(app, "density"), SCALE);
    }
    struct spmv_arguments a = matrix_place(app, &m);
    a.x = app_buffer(app, m.columns * 4);
    a.y = app_buffer(app, m.rows * 4);
    float *x = app_host(app, m.columns * sizeof *x), *y = app_host(app, m.rows * sizeof *y);
    for (uint64_t i = 0; i < m.columns; ++i) x[i] = app_random_float(app) * SCALE;
    app_upload(app, a.x, x, m.columns * 4);
    app_measure_begin(app, "spmv");
    const bool ran = app_run_1d(app, app_kernel(app, "spmv"), m.rows, 128, &a, sizeof a);
    app_measure_end(app);
    if (!ran) return false;
    app_download(app, y, a.y, m.rows * 4);
    for (uint64_t row = 0; row < m.rows; ++row) {
        float sum = 0;
        for (uint32_t k = m.row_start[row]; k < m.row_start[row + 1]; ++k) {
            const struct matrix_entry e = matrix_entry(&m, row, k);
            const float product = e.value * x[e.column];
            sum = sum + product;
        }
        if (y[row] != sum) return app_mismatch(app, "row", row);
    }
    return true;
}
