/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_PROGRAMS_APPS_MATRIX_H
#define FABRICVP_PROGRAMS_APPS_MATRIX_H

#include "gpu/kernels/sparse.h"
#include "programs/apps/app.h"

/* A sparse matrix in compressed rows, in host memory from app_host(). */
struct matrix {
    uint64_t rows, columns, entries;
    uint32_t* row_start; /* rows + 1 */
    uint32_t* column;    /* NULL: generated, its entries follow from hashes */
    float* value;
    float scale; /* of generated values */
};

struct matrix_entry {
    uint32_t column;
    float value;
};

/* Reads a Matrix Market file (coordinate; real, integer or pattern; general or symmetric).
 * \returns NULL, or what is wrong with it; then `line` says where */
const char* matrix_read(struct app* app, struct matrix* m, const char* text, uint64_t bytes, uint64_t* line);
/* A square matrix of which a part of `density` is not zero, uniformly, each row about as much; 0 ≤ value < `scale`. */
void matrix_generate(struct app* app, struct matrix* m, uint64_t rows, double density, float scale);
/* Device memory for it, filled; x and y are left out. */
struct spmv_arguments matrix_place(struct app* app, const struct matrix* m);
/* Entry k, which stands in `row`. */
static inline struct matrix_entry matrix_entry(const struct matrix* m, uint64_t row, uint32_t k) {
    if (m->column) return (struct matrix_entry){m->column[k], m->value[k]};
    const uint32_t first = m->row_start[row], entries = m->row_start[row + 1] - first;
    const uint64_t random = sparse_random(row, k - first, 0);
    return (struct matrix_entry){sparse_column(random, k - first, entries, m->columns), sparse_value(random, m->scale)};
}
/* The RAM disk of the machine, if it has one (fabricvp run --initrd). */
bool matrix_file(const char** text, uint64_t* bytes);

#endif
