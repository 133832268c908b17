/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_HOST_APPS_MATRIX_H
#define FABRICVP_HOST_APPS_MATRIX_H

#include "host/apps/app.h"

/* A sparse matrix in compressed rows, in host memory from app_host(). */
struct matrix {
    uint64_t rows, columns, entries;
    uint32_t* row_start; /* rows + 1 */
    uint32_t* column;
    double* value;
};

/* Reads a Matrix Market file (coordinate; real, integer or pattern; general or symmetric).
 * \returns NULL, or what is wrong with it; then `line` says where */
const char* matrix_read(struct app* app, struct matrix* m, const char* text, uint64_t bytes, uint64_t* line);
/* Only where rows start: `rows` rows of 1 to 16 entries each, some near the diagonal, some anywhere, which follow from
 * hashes (gpu/kernels/graph.h). */
void matrix_generate(struct app* app, struct matrix* m, uint64_t rows);
/* The RAM disk of the machine, if it has one (fabricvp run --initrd). */
bool matrix_file(const char** text, uint64_t* bytes);

#endif
