/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "survey.h"

/* A lane a variable: how far it leans to one value. */
KERNEL(survey_bias, struct survey_arguments) {
    const size_t variable = global_id(0);
    if (variable >= args->variables) return;
    float plain = 1, negated = 1;
    for (uint32_t k = args->row_start[variable], end = args->row_start[variable + 1]; k < end; ++k) {
        const uint32_t edge = args->edge[k];
        const float quiet = 1 - args->survey[edge];
        if (args->literal[edge] & 1)
            negated *= quiet;
        else
            plain *= quiet;
    }
    const float one = (1 - plain) * negated, zero = (1 - negated) * plain, sum = one + zero + plain * negated;
    args->bias[variable] = one > zero ? (one - zero) / sum : (zero - one) / sum;
}
