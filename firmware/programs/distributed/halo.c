/* SPDX-License-Identifier: Apache-2.0 */
/* Jacobi's method with five points on a grid whose rows are spread over all members: before each step but the first, a
 * member gives its border rows to its neighbours. A member has two grids, with a row of a neighbour's, or of the border
 * that stays, above and below its own. Kernels leave these alone: what comes for the next step may be there already. */
#include "gpu/kernels/arguments.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "programs/distributed/distributed.h"

struct step {
    uint64_t rows, columns, grid; /* rows of a member; offset of the grid that was written last */
    unsigned members;
    enum ring_direction direction;
};

static uint64_t grid_bytes(const struct distributed* d) {
    return (4 * (d->size + 2) * d->columns + 63) & ~UINT64_C(63);
}
uint64_t halo_bytes(const struct distributed* d) { return 2 * grid_bytes(d); }

/* The last row goes to the next member's first place, the first row to the previous one's last place. */
static struct ring_transfer transfer(const void* context, unsigned member) {
    const struct step* s = context;
    const uint64_t row = 4 * s->columns;
    if (s->direction == RING_UP)
        return (struct ring_transfer){s->grid + s->rows * row, s->grid, member + 1 < s->members ? row : 0};
    return (struct ring_transfer){s->grid + row, s->grid + (s->rows + 1) * row, member ? row : 0};
}

static float input(uint64_t row, uint64_t column) {
    return (float)(distributed_random(row, column) & 0xffff) * 0x1p-16f;
}

static void compute(struct distributed* d, unsigned step) {
    struct ring* r = &d->ring;
    uint64_t packet[MAX_GPUS];
    const struct gpu_grid grid = {.items = {(uint32_t)d->columns, (uint32_t)d->size, 1}, .group = {64, 4, 1}};
    for (unsigned g = 0; g < r->gpus; ++g) {
        const gpu_address in = r->member[g].memory + (step & 1) * grid_bytes(d),
                          out = r->member[g].memory + (~step & 1) * grid_bytes(d);
        const struct stencil_arguments a = {in, out, (uint32_t)d->columns, (uint32_t)d->size + 2};
        packet[g] = ring_launch(r, g, "jacobi_rows", &grid, &a, sizeof a);
    }
    for (unsigned g = 0; g < r->gpus; ++g) ring_wait(r, g, packet[g]);
}

/* The host computes a member's rows, and as many beside them as there are steps, in the kernel's order. */
static bool is_right(struct distributed* d, unsigned g, float* seen) {
    const struct ring* r = &d->ring;
    const uint64_t columns = d->columns, all = d->size * r->size + 2, first = (r->first + g) * d->size,
                   low = first > d->steps ? first - d->steps : 0,
                   high = first + d->size + 2 + d->steps < all ? first + d->size + 2 + d->steps : all;
    float* grid[2];
    for (unsigned i = 0; i < 2; ++i) {
        grid[i] = heap_allocate(4 * (high - low) * columns);
        if (!grid[i]) panic("halo: no memory for the reference");
    }
    for (uint64_t y = low; y < high; ++y)
        for (uint64_t x = 0; x < columns; ++x) grid[0][(y - low) * columns + x] = input(y, x);
    for (unsigned s = 0; s < d->steps; ++s) {
        const float* in = grid[s & 1];
        float* out = grid[~s & 1];
        for (uint64_t y = low; y < high; ++y)
            for (uint64_t x = 0; x < columns; ++x) {
                const uint64_t at = (y - low) * columns + x;
                const bool border = y == low || y == high - 1 || x == 0 || x == columns - 1;
                out[at] = border
                              ? in[at]
                              : 0.2f * (((in[at] + in[at - 1]) + (in[at + 1] + in[at + columns])) + in[at - columns]);
            }
    }
    bool ok = true;
    for (uint64_t y = 1; y <= d->size && ok; ++y)
        for (uint64_t x = 0; x < columns && ok; ++x)
            if (seen[y * columns + x] != grid[d->steps & 1][(first + y - low) * columns + x])
                ok = distributed_mismatch(d, g, "cell", (first + y) * columns + x);
    for (unsigned i = 0; i < 2; ++i) heap_free(grid[i]);
    return ok;
}

bool halo_run(struct distributed* d) {
    struct ring* r = &d->ring;
    const uint64_t bytes = 4 * (d->size + 2) * d->columns;
    float* host = heap_allocate_aligned(bytes, GPU_PAGE);
    if (!host) panic("halo: no memory for %lu rows", d->size);
    for (unsigned g = 0; g < r->gpus; ++g) {
        for (uint64_t y = 0; y < d->size + 2; ++y)
            for (uint64_t x = 0; x < d->columns; ++x) host[y * d->columns + x] = input((r->first + g) * d->size + y, x);
        for (unsigned i = 0; i < 2; ++i) ring_write(r, g, i * grid_bytes(d), host, bytes);
    }
    ring_load(r, "jacobi_rows");
    distributed_begin(d, "halo");
    for (unsigned step = 0; step < d->steps && !r->failed; ++step) {
        struct step s = {d->size, d->columns, (step & 1) * grid_bytes(d), r->size, RING_UP};
        if (step) ring_shift(r, RING_UP, transfer, &s);
        s.direction = RING_DOWN;
        if (step) ring_shift(r, RING_DOWN, transfer, &s);
        compute(d, step);
    }
    distributed_end(d);
    bool ok = !r->failed;
    for (unsigned g = 0; g < r->gpus && ok; ++g) {
        ring_read(r, g, host, (d->steps & 1) * grid_bytes(d), bytes);
        ok = is_right(d, g, host) && !r->failed;
    }
    return ok;
}
