/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/graph.h"
#include "host/apps/app.h"
#include "host/apps/matrix.h"
#include "host/console.h"

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
        matrix_generate(app, &m, app->size);
    }
    const bool generated = !m.column;
    console_printf("matrix     %lu rows, %lu columns, %lu entries\n", m.rows, m.columns, m.entries);
    const struct spmv_arguments a = {app_buffer(app, (m.rows + 1) * 4), app_buffer(app, m.entries * 4), app_buffer(app, m.entries * 8),
                                     app_buffer(app, m.columns * 8), app_buffer(app, m.rows * 8), m.rows};
    double *x = app_host(app, m.columns * sizeof *x), *y = app_host(app, m.rows * sizeof *y);
    for (uint64_t i = 0; i < m.columns; ++i) x[i] = (double)app_random_float(app);
    app_upload(app, a.x, x, m.columns * 8);
    app_upload(app, a.row_start, m.row_start, (m.rows + 1) * 4);
    if (generated) {
        const struct sparse_arguments s = {a.row_start, a.column, a.value, m.rows};
        app_run_1d(app, app_kernel(app, "sparse"), m.rows, 256, &s, sizeof s);
    } else {
        app_upload(app, a.column, m.column, m.entries * 4);
        app_upload(app, a.value, m.value, m.entries * 8);
    }
    app_measure_begin(app);
    const bool ran = app_run_1d(app, app_kernel(app, "spmv"), m.rows, 256, &a, sizeof a);
    app_measure_end(app);
    if (!ran) return false;
    app_download(app, y, a.y, m.rows * 8);
    for (uint64_t row = 0; row < m.rows; ++row) {
        double sum = 0;
        for (uint32_t k = m.row_start[row]; k < m.row_start[row + 1]; ++k) {
            const uint64_t random = generated ? sparse_random(row, k - m.row_start[row]) : 0;
            const uint32_t column = generated ? sparse_column(row, random, m.rows) : m.column[k];
            const double product = (generated ? sparse_value(random) : m.value[k]) * x[column];
            sum = sum + product;
        }
        if (y[row] != sum) return app_mismatch(app, "row", row);
    }
    return true;
}
