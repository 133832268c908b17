/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/euler.h"

#include "gpu/kernels/random.h"
#include "programs/apps/app.h"

enum { STAGES = 3, SMALLEST = 64, GROUP = 192 };

/* A sheet of cells, walls at two sides, undisturbed flow at the others; cells are numbered at random within blocks, as
 * a mesh generator that works from part to part leaves them, or a solver that sorts them by bins. A block of all cells:
 * as a generator that inserts points at random leaves them. */
struct mesh {
    uint32_t cells, width, block; /* block: a power of two */
    int32_t* neighbour;
    float *normal, *area, *value;
};

static uint32_t number_of(const struct mesh* m, uint32_t place) {
    const uint32_t mask = m->block - 1;
    uint32_t v = place & mask;
    for (unsigned round = 0; round < 3; ++round) {
        v = (v * 0x9e3779b1u + 0x7f4a7c15u) & mask;
        v ^= v >> 6;
    }
    return (place & ~mask) | v;
}

static float between(uint64_t seed, float min, float max) {
    return min + (float)(hash64(seed) >> 40) * 0x1p-24f * (max - min);
}

static void make_mesh(struct app* app, struct mesh* m) {
    const uint32_t n = m->cells, w = m->width, h = n / w;
    m->neighbour = app_host(app, 4ull * EULER_FACES * n);
    m->normal = app_host(app, 12ull * EULER_FACES * n);
    m->area = app_host(app, 4ull * n);
    m->value = app_host(app, 4ull * EULER_VALUES * n);
    for (uint32_t place = 0; place < n; ++place) {
        const uint32_t x = place % w, y = place / w, cell = number_of(m, place);
        const int64_t beside[EULER_FACES] = {
            x ? (int64_t)place - 1 : EULER_WALL, x + 1 < w ? (int64_t)place + 1 : EULER_WALL,
            y ? (int64_t)place - w : EULER_FAR, y + 1 < h ? (int64_t)place + w : EULER_FAR};
        for (unsigned face = 0; face < EULER_FACES; ++face) {
            m->neighbour[(uint64_t)face * n + cell] =
                beside[face] < 0 ? (int32_t)beside[face] : (int32_t)number_of(m, (uint32_t)beside[face]);
            /* Both cells at a face see the same normal, with opposite signs. */
            const uint64_t seed =
                face < 2 ? 2 * ((uint64_t)y * (w + 1) + x + face % 2) : 2 * ((uint64_t)(y + face % 2) * w + x) + 1;
            const float sign = face % 2 ? 1 : -1;
            for (unsigned d = 0; d < 3; ++d)
                m->normal[((uint64_t)d * EULER_FACES + face) * n + cell] =
                    sign * between(8 * seed + d, d == face / 2 ? 0.9f : -0.1f, d == face / 2 ? 1.1f : 0.1f);
        }
        m->area[cell] = between(~(uint64_t)place, 0.8f, 1.2f);
        const float far[EULER_VALUES] = {EULER_FAR_DENSITY, EULER_FAR_MOMENTUM, 0, 0, EULER_FAR_ENERGY};
        for (unsigned i = 0; i < EULER_VALUES; ++i)
            m->value[(uint64_t)i * n + cell] = far[i] * between(~(8ull * place + i), 0.95f, 1.05f);
    }
}

/* ---- the same on the host: first what flows in each cell, then face by face ---- */

struct cell {
    float speed, sound, pressure, flow[3][EULER_VALUES];
};

static struct cell cell_of(const float v[EULER_VALUES]) {
    struct cell c;
    const float vx = v[1] / v[0], vy = v[2] / v[0], vz = v[3] / v[0], velocity[3] = {vx, vy, vz},
                square = vx * vx + vy * vy + vz * vz;
    c.speed = euler_square_root(square);
    c.pressure = (EULER_GAMMA - 1) * (v[4] - 0.5f * v[0] * square);
    c.sound = euler_square_root(EULER_GAMMA * c.pressure / v[0]);
    for (unsigned d = 0; d < 3; ++d) {
        c.flow[d][0] = v[1 + d];
        for (unsigned e = 1; e < 4; ++e) c.flow[d][e] = v[e] * velocity[d];
        c.flow[d][1 + d] += c.pressure;
        c.flow[d][4] = velocity[d] * (v[4] + c.pressure);
    }
    return c;
}

static void stage(const struct mesh* m, struct cell* cells, const float* old, float* flux, float* factor,
                  unsigned number) {
    const uint32_t n = m->cells;
    const float far[EULER_VALUES] = {EULER_FAR_DENSITY, EULER_FAR_MOMENTUM, 0, 0, EULER_FAR_ENERGY};
    const struct cell beyond = cell_of(far);
    for (uint32_t i = 0; i < n; ++i) {
        const float v[EULER_VALUES] = {m->value[i], m->value[n + i], m->value[2 * n + i], m->value[3 * n + i],
                                       m->value[4 * n + i]};
        cells[i] = cell_of(v);
        if (number == 0) factor[i] = 0.5f / (euler_square_root(m->area[i]) * (cells[i].speed + cells[i].sound));
    }
    for (uint32_t i = 0; i < EULER_VALUES * n; ++i) flux[i] = 0;
    for (unsigned face = 0; face < EULER_FACES; ++face)
        for (uint32_t i = 0; i < n; ++i) {
            const int32_t neighbour = m->neighbour[(uint64_t)face * n + i];
            const float x = m->normal[(uint64_t)face * n + i], y = m->normal[((uint64_t)EULER_FACES + face) * n + i],
                        z = m->normal[(2ull * EULER_FACES + face) * n + i], normal[3] = {x, y, z};
            const struct cell *here = &cells[i], *there = neighbour >= 0 ? &cells[neighbour] : &beyond;
            for (unsigned v = 0; v < EULER_VALUES; ++v) {
                float* sum = &flux[v * n + i];
                if (neighbour == EULER_WALL) {
                    if (v >= 1 && v <= 3) *sum += normal[v - 1] * here->pressure;
                    continue;
                }
                if (neighbour >= 0) {
                    const float all = here->speed + there->speed + here->sound + there->sound;
                    const float smooth = -euler_square_root(x * x + y * y + z * z) * EULER_SMOOTHING * 0.5f * all;
                    *sum += smooth * (m->value[v * n + i] - m->value[v * n + (uint32_t)neighbour]);
                }
                for (unsigned d = 0; d < 3; ++d) *sum += 0.5f * normal[d] * (there->flow[d][v] + here->flow[d][v]);
            }
        }
    for (uint32_t i = 0; i < EULER_VALUES * n; ++i)
        m->value[i] = old[i] + factor[i % n] * (1.0f / (float)(STAGES - number)) * flux[i];
}

bool app_euler3d_like(struct app* app) {
    struct mesh m = {.cells = SMALLEST, .width = 8, .block = SMALLEST};
    while (m.cells < app->size) {
        m.cells *= 2;
        if (m.cells / m.width >= 2 * m.width) m.width *= 2;
    }
    const double block = app_option(app, "block");
    while (m.block < m.cells && m.block < block) m.block *= 2;
    make_mesh(app, &m);
    const uint64_t n = m.cells, bytes = 4ull * EULER_VALUES * n;
    struct euler_arguments a = {.neighbour = app_uploaded(app, m.neighbour, 4ull * EULER_FACES * n),
                                .normal = app_uploaded(app, m.normal, 12ull * EULER_FACES * n),
                                .area = app_uploaded(app, m.area, 4 * n),
                                .value = app_uploaded(app, m.value, bytes),
                                .old = app_uploaded(app, m.value, bytes),
                                .flux = app_buffer(app, bytes),
                                .factor = app_buffer(app, 4 * n),
                                .cells = m.cells};
    app_measure_begin(app, "euler_factor", "euler_flux", "euler_advance");
    bool ran = app_run_1d(app, app_kernel(app, "euler_factor"), n, GROUP, &a, sizeof a);
    for (unsigned s = 0; s < STAGES && ran; ++s) {
        a.share = 1.0f / (float)(STAGES - s);
        ran = app_run_1d(app, app_kernel(app, "euler_flux"), n, GROUP, &a, sizeof a) &&
              app_run_1d(app, app_kernel(app, "euler_advance"), n, GROUP, &a, sizeof a);
    }
    app_measure_end(app);
    if (!ran) return false;
    float *old = app_host(app, bytes), *flux = app_host(app, bytes), *factor = app_host(app, 4 * n);
    struct cell* cells = app_host(app, n * sizeof *cells);
    memcpy(old, m.value, bytes);
    for (unsigned s = 0; s < STAGES; ++s) stage(&m, cells, old, flux, factor, s);
    struct app_check check;
    app_check_begin(app, &check, a.value, EULER_VALUES * n);
    for (uint64_t i = 0; i < EULER_VALUES * n; ++i) app_expect_float(&check, m.value[i]);
    return app_check_end(app, &check, "block at");
}
