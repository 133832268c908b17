/* SPDX-License-Identifier: Apache-2.0 */
/* C = A·B, n×n: a member has rows of A and C, and columns of B. Blocks of columns go round the ring, each to its own
 * place; while one is multiplied, it goes on to the next member. A block of B, and one of C, lies by rows. */
#include "gpu/kernels/neural_network.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "programs/distributed/distributed.h"

enum { TILE = 16, RANGE = 7, HALF = 3, VECTOR = 13 };

struct step {
    uint64_t n;
    unsigned members, step;
};

static uint64_t a_bytes(uint64_t n) { return 4 * n * n; } /* rows of a member at most, since it may be alone */
static uint64_t b_at(uint64_t n) { return (a_bytes(n) + 63) & ~UINT64_C(63); }
static uint64_t c_at(uint64_t n) { return 2 * b_at(n); }
uint64_t mm_ring_bytes(const struct distributed* d) { return 3 * b_at(d->size); }

static uint64_t part(uint64_t n, unsigned members, unsigned member) { return ring_part(n, members, member); }
static uint64_t width(uint64_t n, unsigned members, unsigned b) {
    return part(n, members, b + 1) - part(n, members, b);
}
static uint64_t block_at(uint64_t n, unsigned members, unsigned b) { return b_at(n) + 4 * n * part(n, members, b); }
/* The block that a member multiplies in a step. */
static unsigned block_of(unsigned member, unsigned members, unsigned step) {
    return (member + members - step) % members;
}

static struct ring_transfer transfer(const void* context, unsigned member) {
    const struct step* s = context;
    const unsigned b = block_of(member, s->members, s->step);
    const uint64_t at = block_at(s->n, s->members, b);
    return (struct ring_transfer){at, at, 4 * s->n * width(s->n, s->members, b)};
}

static float a_value(uint64_t row, uint64_t column) {
    return (float)((int)(distributed_random(row, column) % RANGE) - HALF);
}
static float b_value(uint64_t row, uint64_t column) {
    return (float)((int)(distributed_random(~row, column) % RANGE) - HALF);
}
static int64_t v_value(uint64_t i) { return (int64_t)(i * i % VECTOR) * 2 - VECTOR; }

static void multiply(struct distributed* d, const struct step* s, uint64_t* packet, bool* runs) {
    struct ring* r = &d->ring;
    for (unsigned g = 0; g < r->gpus; ++g) {
        const unsigned m = r->first + g, b = block_of(m, s->members, s->step);
        const uint64_t rows = width(s->n, s->members, m), columns = width(s->n, s->members, b);
        runs[g] = rows && columns;
        if (!runs[g]) continue;
        const gpu_address memory = r->member[g].memory;
        const struct gemm_arguments a = {.a = memory,
                                         .b = memory + block_at(s->n, s->members, b),
                                         .c = memory + c_at(s->n) + 4 * rows * part(s->n, s->members, b),
                                         .m = (uint32_t)rows,
                                         .n = (uint32_t)columns,
                                         .k = (uint32_t)s->n};
        const struct gpu_grid grid = {
            .items = {(uint32_t)(columns + TILE - 1) / TILE * TILE, (uint32_t)(rows + TILE - 1) / TILE * TILE, 1},
            .group = {TILE, TILE, 1}};
        packet[g] = ring_launch(r, g, "gemm", &grid, &a, sizeof a);
    }
}

/* C·v = A·(B·v) in whole numbers (Freivalds): n² steps in place of n³. No element of v is 0. */
static bool is_right(struct distributed* d, int64_t* bv, float* c) {
    struct ring* r = &d->ring;
    const uint64_t n = d->size;
    for (uint64_t i = 0; i < n; ++i) {
        bv[i] = 0;
        for (uint64_t j = 0; j < n; ++j) bv[i] += (int64_t)b_value(i, j) * v_value(j);
    }
    for (unsigned g = 0; g < r->gpus; ++g) {
        const unsigned m = r->first + g;
        const uint64_t rows = width(n, r->size, m), first = part(n, r->size, m);
        ring_read(r, g, c, c_at(n), 4 * rows * n);
        for (uint64_t i = 0; i < rows; ++i) {
            int64_t left = 0, right = 0;
            for (uint64_t k = 0; k < n; ++k) right += (int64_t)a_value(first + i, k) * bv[k];
            for (unsigned b = 0; b < r->size; ++b) {
                const uint64_t begin = part(n, r->size, b), columns = width(n, r->size, b);
                for (uint64_t j = 0; j < columns; ++j)
                    left += (int64_t)c[rows * begin + i * columns + j] * v_value(begin + j);
            }
            if (left != right) return distributed_mismatch(d, g, "row", first + i);
        }
    }
    return true;
}

bool mm_ring_run(struct distributed* d) {
    struct ring* r = &d->ring;
    const uint64_t n = d->size;
    struct step s = {n, r->size, 0};
    float* host = heap_allocate_aligned(a_bytes(n), GPU_PAGE);
    int64_t* bv = heap_allocate(8 * n);
    if (!host || !bv) panic("mm_ring: no memory for %lu rows", n);
    for (unsigned g = 0; g < r->gpus; ++g) {
        const unsigned m = r->first + g;
        const uint64_t first = part(n, r->size, m), count = width(n, r->size, m);
        if (!count) continue;
        for (uint64_t i = 0; i < count; ++i)
            for (uint64_t k = 0; k < n; ++k) host[i * n + k] = a_value(first + i, k);
        ring_write(r, g, 0, host, 4 * count * n);
        for (uint64_t i = 0; i < n; ++i)
            for (uint64_t j = 0; j < count; ++j) host[i * count + j] = b_value(i, first + j);
        ring_write(r, g, block_at(n, r->size, m), host, 4 * count * n);
    }
    ring_load(r, "gemm");
    distributed_begin(d, "mm_ring");
    for (; s.step < r->size && !r->failed; ++s.step) {
        uint64_t packet[MAX_GPUS];
        bool runs[MAX_GPUS];
        multiply(d, &s, packet, runs);
        if (s.step + 1 < r->size) ring_shift(r, RING_UP, transfer, &s);
        for (unsigned g = 0; g < r->gpus; ++g)
            if (runs[g]) ring_wait(r, g, packet[g]);
    }
    distributed_end(d);
    return !r->failed && is_right(d, bv, host) && !r->failed;
}
