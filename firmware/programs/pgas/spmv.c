/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/pgas_spmv.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "programs/pgas/workloads.h"

enum { NEAR = 5, FAR = 3, A_ROW = NEAR + FAR };

static void on_hart(const void* arguments) {
    static struct pgas_context context;
    pgas_spmv_run(arguments, &context);
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
static void find_needs(const struct matrix* m, uint32_t rows, unsigned rank, struct spmv_range* needed) {
    for (uint32_t k = 0; k < rows * A_ROW; ++k) {
        const uint32_t column = m->columns[k];
        struct spmv_range* n = &needed[column / rows];
        if (column / rows == rank) continue;
        const uint32_t begin = n->count && n->first < column ? n->first : column,
                       end = n->count && n->first + n->count > column ? n->first + n->count : column + 1;
        *n = (struct spmv_range){begin, end - begin};
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

static uint64_t give(struct pgas_runtime* w, const void* from, uint64_t bytes) {
    const struct rdma_buffer p = pgas_runtime_allocate(w, bytes);
    rdma_buffer_write(w->node, &p, 0, from, bytes);
    return pgas_runtime_address(w, &p);
}

bool spmv_run(struct pgas_runtime* w, uint32_t rows, uint32_t iterations) {
    const uint32_t all = rows * w->bootstrap->comm.size, first = rows * w->bootstrap->comm.rank;
    const uint64_t bytes = 4ull * all;
    struct matrix m = make_rows(first, rows, all);
    float* x = zeroed(bytes);
    for (uint32_t i = first; i < first + rows; ++i) x[i] = start_value(i); /* the rest comes from the others */
    pgas_runtime_open(w, 2 * bytes);
    rdma_buffer_write(w->node, &w->segment, 0, x, bytes);
    const struct rdma_buffer cycles = pgas_runtime_allocate(w, 16),
                             grid = pgas_runtime_allocate(w, sizeof(struct grid_barrier));
    struct pgas_spmv_arguments a = {.contexts = pgas_runtime_address(w, &w->contexts),
                                    .grid = pgas_runtime_address(w, &grid),
                                    .cycles = pgas_runtime_address(w, &cycles),
                                    .starts = give(w, m.starts, 4ull * (rows + 1)),
                                    .columns = give(w, m.columns, 4ull * rows * A_ROW),
                                    .weights = give(w, m.weights, 4ull * rows * A_ROW),
                                    .vector = {0, bytes},
                                    .first = first,
                                    .rows = rows,
                                    .iterations = iterations};
    find_needs(&m, rows, w->bootstrap->comm.rank, a.needed);
    const struct pgas_workload work = {"pgas_spmv", on_hart, &a, sizeof a};
    bool ok = pgas_runtime_run(w, &work);
    rdma_buffer_read(w->node, x, &w->segment, (iterations & 1) * bytes, bytes);
    float* expected = solve(all, iterations);
    const bool same = memcmp(x + first, expected + first, 4ull * rows) == 0;
    if (ok && !same) console_printf("the product is wrong\n");
    pgas_runtime_report(w, "spmv", "all", &cycles, 0, 1, 1);
    pgas_runtime_report(w, "spmv", "fetch", &cycles, 1, 1, 1);
    free_rows(&m);
    heap_free(expected);
    heap_free(x);
    return ok && same;
}
