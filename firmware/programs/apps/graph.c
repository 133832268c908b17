/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/apps/graph.h"

#include "gpu/kernels/random.h"
#include "lib/console.h"
#include "lib/heap.h"

/* R-MAT with probabilities 0.57, 0.19, 0.1875, 0.0525, drawn row by row: how many edges leave a vertex is their
 * expected number, rounded at random; where each goes is drawn under the condition of the source's bits: a bit of the
 * target is 1 with probability 1/4 where the source's is 0, else 7/32. */
#define RMAT_ZERO 0.76 /* that a bit of the source is 0 */

static uint32_t target_of(uint32_t source, uint64_t edge, uint32_t mask) {
    const uint64_t a = hash64(2 * edge), b = hash64(2 * edge + 1);
    const uint32_t quarter = (uint32_t)a & (uint32_t)(a >> 32),
                   seven_eighths = (uint32_t)b | (uint32_t)(b >> 16) | (uint32_t)(b >> 32);
    return quarter & (~source | seven_eighths) & mask;
}

/* A permutation of 0 … 2^scale - 1: each step can be undone. */
static uint32_t shuffled(uint32_t v, unsigned scale) {
    const uint32_t mask = (1u << scale) - 1;
    for (unsigned round = 0; round < 3; ++round) {
        v = (v * 0x9e3779b1u + 0x7f4a7c15u) & mask;
        v ^= v >> (scale + 1) / 2;
    }
    return v;
}

void graph_generate(struct app* app, struct graph* g, unsigned scale, uint64_t edges) {
    const uint32_t n = g->vertices = 1u << scale;
    double expected[33]; /* edges of a vertex, by how many of its bits are 1 */
    for (unsigned ones = 0; ones <= scale; ++ones) {
        expected[ones] = (double)edges;
        for (unsigned bit = 0; bit < scale; ++bit) expected[ones] *= bit < ones ? 1 - RMAT_ZERO : RMAT_ZERO;
    }
    struct pair {
        uint32_t a, b;
    }* pairs = app_host(app, (edges + n) * sizeof *pairs);
    uint64_t drawn = 0, kept = 0;
    for (uint32_t v = 0; v < n; ++v) {
        unsigned ones = 0;
        for (uint32_t rest = v; rest; rest &= rest - 1) ++ones;
        const uint64_t leave = (uint64_t)(expected[ones] + (double)(hash64(~(uint64_t)v) >> 11) * 0x1p-53);
        for (uint64_t e = 0; e < leave; ++e) {
            const uint32_t target = target_of(v, drawn++, n - 1);
            if (target != v && kept < edges + n)
                pairs[kept++] = (struct pair){shuffled(v, scale), shuffled(target, scale)};
        }
    }
    g->entries = 2 * kept;
    g->row_start = app_host(app, (n + 1ull) * 4);
    g->neighbour = app_host(app, g->entries * 4);
    for (uint64_t e = 0; e < kept; ++e) {
        ++g->row_start[pairs[e].a];
        ++g->row_start[pairs[e].b];
    }
    uint32_t total = 0;
    for (uint32_t v = 0; v <= n; ++v) { /* where each row ends; filling it from behind leaves where it starts */
        total += v < n ? g->row_start[v] : 0;
        g->row_start[v] = total;
    }
    for (uint64_t e = 0; e < kept; ++e) {
        g->neighbour[--g->row_start[pairs[e].a]] = pairs[e].b;
        g->neighbour[--g->row_start[pairs[e].b]] = pairs[e].a;
    }
    heap_free(pairs);
    console_printf("graph      %u vertices, %lu edges\n", n, kept);
}
