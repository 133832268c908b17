/* SPDX-License-Identifier: Apache-2.0 */
/* Survey propagation on random 3-SAT. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_SURVEY_H
#define FABRICVP_GPU_KERNELS_SURVEY_H

#include "gpu/kernels/arguments.h"

enum { SURVEY_LITERALS = 3, SURVEY_GROUP = 256 };
struct survey_arguments {
    POINTER(const uint32_t) literal; /* of edges; 3c … 3c + 2 are those of clause c: variable × 2 + (1 if negated) */
    POINTER(const uint32_t) row_start; /* variables + 1 */
    POINTER(const uint32_t) edge;      /* edges of each variable, by rows */
    POINTER(const float) survey;       /* of edges: what its clause warns its variable of */
    POINTER(float) next;               /* the same after the step */
    POINTER(float) bias;               /* of variables */
    POINTER(uint32_t) change;          /* bits of the largest change of a survey */
    uint32_t clauses, variables;
};

#endif
