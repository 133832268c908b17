/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "survey.h"

enum { GROUP = SURVEY_GROUP };

/* How strongly a variable is drawn against a clause by all its other clauses. */
GPU_INLINE float opposing_influence(const struct survey_arguments* args, uint32_t own_edge) {
    const uint32_t literal = args->literal[own_edge], variable = literal / 2;
    float same = 1, opposite = 1; /* products over clauses with the same sign, and with the other */
    for (uint32_t k = args->row_start[variable], end = args->row_start[variable + 1]; k < end; ++k) {
        const uint32_t edge = args->edge[k];
        if (edge == own_edge) continue;
        const float quiet = 1 - args->survey[edge];
        if (args->literal[edge] == literal)
            same *= quiet;
        else
            opposite *= quiet;
    }
    const float away = (1 - opposite) * same, towards = (1 - same) * opposite, neither = same * opposite;
    return away / (away + towards + neither);
}

/* A lane a clause. */
KERNEL(survey_update, struct survey_arguments) {
    LDS uint32_t largest[GROUP];
    const size_t clause = global_id(0), lane = local_id(0);
    uint32_t change = 0;
    if (clause < args->clauses) {
        const uint32_t first = (uint32_t)clause * SURVEY_LITERALS;
        float away[SURVEY_LITERALS];
        for (unsigned l = 0; l < SURVEY_LITERALS; ++l) away[l] = opposing_influence(args, first + l);
        for (unsigned l = 0; l < SURVEY_LITERALS; ++l) {
            const float next = away[(l + 1) % SURVEY_LITERALS] * away[(l + 2) % SURVEY_LITERALS],
                        old = args->survey[first + l];
            const float difference = next > old ? next - old : old - next;
            uint32_t bits; /* order as the numbers, which are not negative */
            __builtin_memcpy(&bits, &difference, 4);
            if (bits > change) change = bits;
            args->next[first + l] = next;
        }
    }
    largest[lane] = change;
    for (size_t half = GROUP / 2; half; half /= 2) {
        barrier();
        if (lane < half && largest[lane + half] > largest[lane]) largest[lane] = largest[lane + half];
    }
    if (lane == 0) atomic_max_u32(args->change, largest[0]);
}
