/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/comd.h"

#include "gpu/kernels/random.h"
#include "programs/apps/app.h"

/* One step of molecular dynamics, and the forces after it. A cell is as wide as the cutoff and holds 12 to 19 atoms,
 * which sit near the points of a lattice of 3×3×3. */
enum { LATTICE = 3, MIN_CELLS = 12, MORE = 8, SMALLEST = 3, GROUP = 128 };
#define CUTOFF 2.5
#define STEP 0.001

struct box {
    uint32_t n, cells, places, atoms;
    uint32_t *atom, *neighbour, *count;
    double *position, *velocity, *force, *energy;
};

static double unit(uint64_t seed) { return (double)(hash64(seed) >> 11) * 0x1p-53; }

static void fill_box(struct app* app, struct box* b) {
    const uint32_t n = b->n;
    b->cells = n * n * n;
    b->places = b->cells * COMD_SLOTS;
    b->atom = app_host(app, (uint64_t)b->cells * (MIN_CELLS + MORE) * 4);
    b->neighbour = app_host(app, (uint64_t)b->cells * COMD_NEIGHBOURS * 4);
    b->count = app_host(app, b->cells * 4ull);
    b->position = app_host(app, b->places * 24ull);
    b->velocity = app_host(app, b->places * 24ull);
    b->force = app_host(app, b->places * 24ull);
    b->energy = app_host(app, b->places * 8ull);
    for (uint32_t c = 0; c < b->cells; ++c) {
        const uint32_t at[3] = {c % n, c / n % n, c / n / n};
        for (uint32_t k = 0; k < COMD_NEIGHBOURS; ++k) {
            const uint32_t x = (at[0] + n + k % 3 - 1) % n, y = (at[1] + n + k / 3 % 3 - 1) % n,
                           z = (at[2] + n + k / 9 - 1) % n;
            b->neighbour[(uint64_t)c * COMD_NEIGHBOURS + k] = (z * n + y) * n + x;
        }
        b->count[c] = MIN_CELLS + (uint32_t)(hash64(c) % MORE);
        for (uint32_t slot = 0; slot < b->count[c]; ++slot) {
            const uint32_t place = c * COMD_SLOTS + slot;
            b->atom[b->atoms++] = place;
            const uint32_t point[3] = {slot % LATTICE, slot / LATTICE % LATTICE, slot / LATTICE / LATTICE};
            for (uint32_t d = 0; d < 3; ++d) {
                const uint64_t seed = 8ull * place + d;
                b->position[(uint64_t)d * b->places + place] =
                    (at[d] + (point[d] + 0.45 + 0.1 * unit(seed)) / LATTICE) * CUTOFF;
                b->velocity[(uint64_t)d * b->places + place] = unit(~seed) - 0.5;
            }
        }
    }
}

/* The reference goes from cell to cell, and finds the nearest image by the cells' places. */
static void host_forces(struct box* b) {
    const uint64_t p = b->places;
    const double side = b->n * CUTOFF;
    for (uint32_t c = 0; c < b->cells; ++c)
        for (uint32_t own = c * COMD_SLOTS; own < c * COMD_SLOTS + b->count[c]; ++own) {
            double f[3] = {0, 0, 0}, energy = 0;
            for (uint32_t k = 0; k < COMD_NEIGHBOURS; ++k) {
                const uint32_t other_cell = b->neighbour[(uint64_t)c * COMD_NEIGHBOURS + k];
                for (uint32_t other = other_cell * COMD_SLOTS; other < other_cell * COMD_SLOTS + b->count[other_cell];
                     ++other) {
                    double d[3];
                    for (unsigned i = 0; i < 3; ++i) {
                        d[i] = b->position[i * p + own] - b->position[i * p + other];
                        if (d[i] > side / 2) d[i] -= side;
                        if (d[i] < -side / 2) d[i] += side;
                    }
                    const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
                    if (other == own || square > CUTOFF * CUTOFF) continue;
                    const double r2 = 1 / square, r6 = r2 * r2 * r2, pull = r6 * (48 * r6 - 24) * r2;
                    energy += 2 * r6 * (r6 - 1);
                    for (unsigned i = 0; i < 3; ++i) f[i] += d[i] * pull;
                }
            }
            for (unsigned i = 0; i < 3; ++i) b->force[i * p + own] = f[i];
            b->energy[own] = energy;
        }
}

bool app_comd_like(struct app* app) {
    struct box b = {.n = app->size < SMALLEST ? SMALLEST : (uint32_t)app->size};
    fill_box(app, &b);
    const struct comd_arguments a = {
        .atom = app_uploaded(app, b.atom, b.atoms * 4ull),
        .neighbour = app_uploaded(app, b.neighbour, (uint64_t)b.cells * COMD_NEIGHBOURS * 4),
        .count = app_uploaded(app, b.count, b.cells * 4ull),
        .position = app_uploaded(app, b.position, b.places * 24ull),
        .velocity = app_uploaded(app, b.velocity, b.places * 24ull),
        .force = app_uploaded(app, b.force, b.places * 24ull),
        .energy = app_uploaded(app, b.energy, b.places * 8ull),
        .atoms = b.atoms,
        .places = b.places,
        .cutoff = CUTOFF,
        .side = b.n * CUTOFF,
        .step = STEP};
    app_measure_begin(app, "comd_force", "comd_advance");
    const bool ran = app_run_1d(app, app_kernel(app, "comd_force"), b.atoms, GROUP, &a, sizeof a) &&
                     app_run_1d(app, app_kernel(app, "comd_advance"), b.atoms, GROUP, &a, sizeof a) &&
                     app_run_1d(app, app_kernel(app, "comd_force"), b.atoms, GROUP, &a, sizeof a);
    app_measure_end(app);
    if (!ran) return false;
    host_forces(&b);
    for (uint64_t i = 0; i < 3ull * b.places; ++i) {
        b.velocity[i] += STEP * b.force[i]; /* nothing moves where no atom is */
        b.position[i] += STEP * b.velocity[i];
    }
    host_forces(&b);
    return app_doubles_are(app, a.position, b.position, 3ull * b.places, "positions at") &&
           app_doubles_are(app, a.velocity, b.velocity, 3ull * b.places, "velocities at") &&
           app_doubles_are(app, a.force, b.force, 3ull * b.places, "forces at") &&
           app_doubles_are(app, a.energy, b.energy, b.places, "energies at");
}
