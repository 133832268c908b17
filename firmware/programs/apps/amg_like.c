/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/amg.h"

#include "gpu/kernels/random.h"
#include "lib/console.h"
#include "programs/apps/app.h"

/* One V-cycle of algebraic multigrid for the 27-point Laplacian: a step of weighted Jacobi down and up, aggregates of
 * eight rows, coarse matrices as products of the finer one with the transfers, sixteen steps on the coarsest. */
enum { LEVELS = 3, COARSEST = 2, POINTS = 27, CHILDREN = 8, BOTTOM_STEPS = 16, GROUP = 128 };

struct compressed { /* in host memory and on the device */
    uint32_t rows;
    uint32_t *row_start, *column;
    double* value;
    struct amg_arguments on_device;
};

struct level {
    uint32_t n;                         /* a side */
    struct compressed matrix, down, up; /* down and up: to and from the next coarser level */
    double *x, *other, *right;
    gpu_address x_at, other_at, right_at;
};

static void reserve(struct app* app, struct compressed* c, uint32_t rows, uint64_t entries) {
    c->rows = rows;
    c->row_start = app_host(app, (rows + 1ull) * 4);
    c->column = app_host(app, entries * 4);
    c->value = app_host(app, entries * 8);
}

static void place(struct app* app, struct compressed* c) {
    const uint64_t entries = c->row_start[c->rows];
    c->on_device = (struct amg_arguments){.row_start = app_uploaded(app, c->row_start, (c->rows + 1ull) * 4),
                                          .column = app_uploaded(app, c->column, entries * 4),
                                          .value = app_uploaded(app, c->value, entries * 8),
                                          .rows = c->rows};
}

static void make_finest(struct app* app, struct compressed* m, uint32_t n) {
    reserve(app, m, n * n * n, (uint64_t)POINTS * n * n * n);
    uint32_t k = 0;
    for (uint32_t row = 0; row < m->rows; ++row) {
        const int32_t x = (int32_t)(row % n), y = (int32_t)(row / n % n), z = (int32_t)(row / n / n), side = (int32_t)n;
        m->row_start[row] = k;
        m->column[k] = row;
        m->value[k++] = POINTS - 1;
        for (int32_t p = 0; p < POINTS; ++p) {
            const int32_t at[3] = {x + p % 3 - 1, y + p / 3 % 3 - 1, z + p / 9 - 1};
            bool inside = p != POINTS / 2;
            for (unsigned d = 0; d < 3; ++d) inside = inside && at[d] >= 0 && at[d] < side;
            if (!inside) continue;
            m->column[k] = (uint32_t)((at[2] * side + at[1]) * side + at[0]);
            m->value[k++] = -1;
        }
    }
    m->row_start[m->rows] = k;
}

static uint32_t parent(uint32_t row, uint32_t n) {
    return ((row / n / n / 2) * (n / 2) + row / n % n / 2) * (n / 2) + row % n / 2;
}

static void make_transfers(struct app* app, struct level* fine) {
    const uint32_t rows = fine->matrix.rows, coarse = rows / CHILDREN, n = fine->n;
    reserve(app, &fine->up, rows, rows);
    reserve(app, &fine->down, coarse, rows);
    uint32_t* filled = app_host(app, coarse * 4ull);
    for (uint32_t row = 0; row < rows; ++row) {
        const uint32_t p = parent(row, n), child = p * CHILDREN + filled[p]++;
        fine->up.row_start[row] = row;
        fine->up.column[row] = p;
        fine->down.column[child] = row;
        fine->up.value[row] = fine->down.value[child] = 1;
    }
    fine->up.row_start[rows] = rows;
    for (uint32_t p = 0; p <= coarse; ++p) fine->down.row_start[p] = p * CHILDREN;
}

/* down · matrix · up: sums of the entries between two aggregates. */
static void make_coarser(struct app* app, struct compressed* m, const struct level* fine) {
    const uint32_t rows = fine->down.rows;
    reserve(app, m, rows, (uint64_t)POINTS * rows);
    uint32_t k = 0;
    for (uint32_t row = 0; row < rows; ++row) {
        const uint32_t first = m->row_start[row] = k;
        m->column[k++] = row; /* the diagonal stands first */
        for (uint32_t c = 0; c < CHILDREN; ++c) {
            const uint32_t child = fine->down.column[row * CHILDREN + c];
            for (uint32_t e = fine->matrix.row_start[child]; e < fine->matrix.row_start[child + 1]; ++e) {
                const uint32_t column = fine->up.column[fine->matrix.column[e]];
                uint32_t at = first;
                while (at < k && m->column[at] != column) ++at;
                if (at == k) m->column[k++] = column;
                m->value[at] += fine->matrix.value[e];
            }
        }
    }
    m->row_start[rows] = k;
}

/* ---- on the GPUs ---- */

static bool apply(struct app* app, const char* kernel, const struct compressed* m, gpu_address right, gpu_address from,
                  gpu_address to) {
    struct amg_arguments a = m->on_device;
    a.right = right;
    a.from = from;
    a.to = to;
    return app_run_1d(app, app_kernel(app, kernel), m->rows, GROUP, &a, sizeof a);
}

static bool relax(struct app* app, struct level* l, unsigned steps) {
    for (unsigned s = 0; s < steps; ++s) {
        if (!apply(app, "amg_relax", &l->matrix, l->right_at, l->x_at, l->other_at)) return false;
        const gpu_address x = l->x_at;
        l->x_at = l->other_at;
        l->other_at = x;
    }
    return true;
}

static bool cycle(struct app* app, struct level* l, unsigned levels) {
    if (levels == 1) return relax(app, l, BOTTOM_STEPS);
    return relax(app, l, 1) && apply(app, "amg_residual", &l->matrix, l->right_at, l->x_at, l->other_at) &&
           apply(app, "amg_transfer", &l->down, 0, l->other_at, l[1].right_at) && cycle(app, l + 1, levels - 1) &&
           apply(app, "amg_transfer", &l->up, 0, l[1].x_at, l->x_at) && relax(app, l, 1);
}

/* ---- the same on the host ---- */

static double times(const struct compressed* m, uint32_t row, const double* x, double from, double sign) {
    for (uint32_t k = m->row_start[row]; k < m->row_start[row + 1]; ++k) from += sign * (m->value[k] * x[m->column[k]]);
    return from;
}

static void host_relax(struct level* l, unsigned steps) {
    for (unsigned s = 0; s < steps; ++s) {
        for (uint32_t row = 0; row < l->matrix.rows; ++row)
            l->other[row] = l->x[row] + times(&l->matrix, row, l->x, l->right[row], -1) * AMG_WEIGHT /
                                            l->matrix.value[l->matrix.row_start[row]];
        double* x = l->x;
        l->x = l->other;
        l->other = x;
    }
}

static void host_cycle(struct level* l, unsigned levels) {
    if (levels == 1) return host_relax(l, BOTTOM_STEPS);
    host_relax(l, 1);
    for (uint32_t row = 0; row < l->matrix.rows; ++row) l->other[row] = times(&l->matrix, row, l->x, l->right[row], -1);
    for (uint32_t row = 0; row < l->down.rows; ++row) l[1].right[row] = times(&l->down, row, l->other, 0, 1);
    host_cycle(l + 1, levels - 1);
    for (uint32_t row = 0; row < l->up.rows; ++row) l->x[row] = times(&l->up, row, l[1].x, l->x[row], 1);
    host_relax(l, 1);
}

static double residual_of(const struct level* l) {
    double sum = 0;
    for (uint32_t row = 0; row < l->matrix.rows; ++row) {
        const double r = times(&l->matrix, row, l->x, l->right[row], -1);
        sum += r * r;
    }
    return sum;
}

bool app_amg_like(struct app* app) {
    struct level level[LEVELS] = {{.n = COARSEST << (LEVELS - 1)}};
    while (level[0].n < app->size) level[0].n *= 2;
    for (unsigned i = 0; i < LEVELS; ++i) {
        struct level* l = &level[i];
        if (i == 0)
            make_finest(app, &l->matrix, l->n);
        else
            make_coarser(app, &l->matrix, l - 1);
        place(app, &l->matrix);
        if (i + 1 < LEVELS) {
            l[1].n = l->n / 2;
            make_transfers(app, l);
            place(app, &l->down);
            place(app, &l->up);
        }
        const uint64_t bytes = l->matrix.rows * 8ull;
        l->x = app_host(app, bytes);
        l->other = app_host(app, bytes);
        l->right = app_host(app, bytes);
        for (uint32_t row = 0; i == 0 && row < l->matrix.rows; ++row)
            l->right[row] = (double)(int64_t)hash64(row) * 0x1p-63;
        l->x_at = app_uploaded(app, l->x, bytes);
        l->other_at = app_uploaded(app, l->other, bytes);
        l->right_at = app_uploaded(app, l->right, bytes);
    }
    app_measure_begin(app, "amg_relax", "amg_residual", "amg_transfer");
    const bool ran = cycle(app, level, LEVELS);
    app_measure_end(app);
    if (!ran) return false;
    const double before = residual_of(level);
    host_cycle(level, LEVELS);
    console_printf("residual   %u %% of what it was\n", (unsigned)(100 * residual_of(level) / before));
    double* seen = app_host(app, level[0].matrix.rows * 8ull);
    app_download(app, seen, level[0].x_at, level[0].matrix.rows * 8ull);
    for (uint32_t row = 0; row < level[0].matrix.rows; ++row)
        if (seen[row] != level[0].x[row]) return app_mismatch(app, "row", row);
    return residual_of(level) < before || app_mismatch(app, "residual of level", 0);
}
