/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/pgas_spmv.h"
#include "host/console.h"
#include "host/heap.h"
#include "host/machine.h"
#include "host/pgas/works.h"

enum { NEAR = 5, FAR = 3, A_ROW = NEAR + FAR };

static void on_hart(const void* arguments) {
    static struct pgas_group group;
    pgas_spmv_run(arguments, &group);
}

/* Element `k` of a row: some near the diagonal, some anywhere. Weights of a row add up to one, so that vectors stay
 * what they are. */
static uint32_t column_of(uint32_t row, uint32_t k, uint32_t all) {
    return k < NEAR ? (row + all + k - NEAR / 2) % all
                    : (uint32_t)((row * UINT64_C(2654435761) + k * 40503) >> 7) % all;
}
static const float weights[A_ROW] = {0.0625f, 0.125f, 0.25f, 0.125f, 0.0625f, 0.125f, 0.125f, 0.125f};
static float start_value(uint32_t index) { return (float)(index * 7919 % 1009) * 0.125f; }

static void* zeroed(uint64_t bytes) {
    void* at = heap_allocate(bytes);
    if (!at) panic("spmv: out of memory");
    return memset(at, 0, bytes);
}

struct matrix {
    uint32_t *starts, *columns;
    float* weights;
};
static struct matrix make_rows(uint32_t first, uint32_t rows, uint32_t all) {
    struct matrix m = {zeroed(4ull * (rows + 1)), zeroed(4ull * rows * A_ROW), zeroed(4ull * rows * A_ROW)};
    for (uint32_t row = 0; row < rows; ++row) {
        m.starts[row + 1] = A_ROW * (row + 1);
        for (uint32_t k = 0; k < A_ROW; ++k) {
            m.columns[row * A_ROW + k] = column_of(first + row, k, all);
            m.weights[row * A_ROW + k] = weights[k];
        }
    }
    return m;
}
static void free_rows(struct matrix* m) {
    heap_free(m->starts);
    heap_free(m->columns);
    heap_free(m->weights);
}

/* The stretch of each other node's part in which all lies that these rows need of it. */
static void find_needs(const struct matrix* m, uint32_t rows, unsigned rank, struct spmv_need* need) {
    for (uint32_t k = 0; k < rows * A_ROW; ++k) {
        const uint32_t column = m->columns[k];
        struct spmv_need* n = &need[column / rows];
        if (column / rows == rank) continue;
        const uint32_t begin = n->count && n->first < column ? n->first : column,
                       end = n->count && n->first + n->count > column ? n->first + n->count : column + 1;
        *n = (struct spmv_need){begin, end - begin};
    }
}

/* What the whole vector has to be. */
static float* solve(uint32_t all, uint32_t iterations) {
    struct matrix m = make_rows(0, all, all);
    float *x = zeroed(4ull * all), *y = zeroed(4ull * all);
    for (uint32_t i = 0; i < all; ++i) x[i] = start_value(i);
    for (uint32_t i = 0; i < iterations; ++i) {
        for (uint32_t row = 0; row < all; ++row)
            y[row] = spmv_row(m.columns, m.weights, m.starts[row], m.starts[row + 1], x);
        float* const last = x;
        x = y;
        y = last;
    }
    free_rows(&m);
    heap_free(y);
    return x;
}

static uint64_t give(struct world* w, const void* from, uint64_t bytes) {
    const struct place p = world_take(w, bytes);
    place_write(w->node, &p, 0, from, bytes);
    return world_at(w, &p);
}

bool spmv_run(struct world* w, uint32_t rows, uint32_t iterations) {
    const uint32_t all = rows * w->party->count, first = rows * w->party->index;
    const uint64_t bytes = 4ull * all;
    struct matrix m = make_rows(first, rows, all);
    float* x = zeroed(bytes);
    for (uint32_t i = first; i < first + rows; ++i) x[i] = start_value(i); /* the rest comes from the others */
    world_open(w, 2 * bytes);
    place_write(w->node, &w->segment, 0, x, bytes);
    const struct place cycles = world_take(w, 16), crew = world_take(w, sizeof(struct team_crew));
    struct pgas_spmv_arguments a = {.groups = world_at(w, &w->groups),
                                    .crew = world_at(w, &crew),
                                    .cycles = world_at(w, &cycles),
                                    .starts = give(w, m.starts, 4ull * (rows + 1)),
                                    .columns = give(w, m.columns, 4ull * rows * A_ROW),
                                    .weights = give(w, m.weights, 4ull * rows * A_ROW),
                                    .vector = {0, bytes},
                                    .first = first,
                                    .rows = rows,
                                    .iterations = iterations};
    find_needs(&m, rows, w->party->index, a.need);
    const struct world_work work = {"pgas_spmv", on_hart, &a, sizeof a};
    bool right = world_run(w, &work);
    place_read(w->node, x, &w->segment, (iterations & 1) * bytes, bytes);
    float* expected = solve(all, iterations);
    const bool same = memcmp(x + first, expected + first, 4ull * rows) == 0;
    if (right && !same) console_printf("the product is wrong\n");
    world_report(w, "spmv", "all", &cycles, 0, 1, 1);
    world_report(w, "spmv", "fetching", &cycles, 1, 1, 1);
    free_rows(&m);
    heap_free(expected);
    heap_free(x);
    return right && same;
}
