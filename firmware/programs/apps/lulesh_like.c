/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/lulesh.h"

#include "gpu/kernels/random.h"
#include "programs/apps/app.h"

/* Steps of a gas in a cube of n³ elements with energy of its own in each, much of it in one corner. */
enum { STEPS = 2, GROUP = 128 };
#define STEP 0.001
#define BLAST 8.0 /* energy of the corner element; the others have 1 to 2 */

struct cube {
    uint32_t n, elements, nodes;
    uint32_t *corner, *row_start, *place;
    double *position, *velocity, *mass, *force, *volume, *energy, *pressure;
};

static uint32_t corner_node(const struct cube* u, uint32_t element, unsigned c) {
    const uint32_t n = u->n, x = element % n + (c == 1 || c == 2 || c == 5 || c == 6),
                   y = element / n % n + (c == 2 || c == 3 || c == 6 || c == 7), z = element / n / n + (c >= 4);
    return (z * (n + 1) + y) * (n + 1) + x;
}

static void make_cube(struct app* app, struct cube* u) {
    const uint32_t n = u->n, elements = u->elements = n * n * n, nodes = u->nodes = (n + 1) * (n + 1) * (n + 1);
    u->corner = app_host(app, 4ull * LULESH_CORNERS * elements);
    u->place = app_host(app, 4ull * LULESH_CORNERS * elements);
    u->row_start = app_host(app, 4 * (nodes + 1ull));
    u->position = app_host(app, 24ull * nodes);
    u->velocity = app_host(app, 24ull * nodes);
    u->mass = app_host(app, 8ull * nodes);
    u->force = app_host(app, 24ull * LULESH_CORNERS * elements);
    u->volume = app_host(app, 8ull * elements);
    u->energy = app_host(app, 8ull * elements);
    u->pressure = app_host(app, 8ull * elements);
    for (uint32_t e = 0; e < elements; ++e) {
        for (unsigned c = 0; c < LULESH_CORNERS; ++c) {
            const uint32_t node = u->corner[(uint64_t)c * elements + e] = corner_node(u, e, c);
            ++u->row_start[node];
            u->mass[node] += 1.0 / LULESH_CORNERS;
        }
        u->volume[e] = 1;
        u->energy[e] = e ? 1 + (double)(hash64(e) >> 11) * 0x1p-53 : BLAST;
        u->pressure[e] = LULESH_GAMMA_1 * u->energy[e] / u->volume[e];
    }
    uint32_t total = 0;
    for (uint32_t node = 0; node <= nodes;
         ++node) { /* where each row ends; filling it from behind leaves where it starts */
        total += node < nodes ? u->row_start[node] : 0;
        u->row_start[node] = total;
    }
    for (uint32_t e = elements; e-- > 0;)
        for (unsigned c = LULESH_CORNERS; c-- > 0;) u->place[--u->row_start[corner_node(u, e, c)]] = c * elements + e;
    for (uint32_t node = 0; node < nodes; ++node) {
        u->position[node] = node % (n + 1);
        u->position[nodes + node] = node / (n + 1) % (n + 1);
        u->position[2ull * nodes + node] = node / (n + 1) / (n + 1);
    }
}

/* ---- the same on the host: elements scatter what nodes gather on the GPU, in the same order ---- */

struct vector {
    double x, y, z;
};

static struct vector node_at(const struct cube* u, uint32_t node) {
    return (struct vector){u->position[node], u->position[u->nodes + node], u->position[2ull * u->nodes + node]};
}

static struct vector half_product(struct vector p0, struct vector p1, struct vector p2, struct vector p3) {
    const struct vector a = {p2.x - p0.x, p2.y - p0.y, p2.z - p0.z}, b = {p3.x - p1.x, p3.y - p1.y, p3.z - p1.z};
    return (struct vector){0.5 * (a.y * b.z - a.z * b.y), 0.5 * (a.z * b.x - a.x * b.z), 0.5 * (a.x * b.y - a.y * b.x)};
}

static void host_step(struct cube* u) {
    double* sum = u->force; /* [node][dimension]; there is room enough */
    memset(sum, 0, 24ull * u->nodes);
    for (uint32_t e = 0; e < u->elements; ++e) {
        const double quarter = u->pressure[e] * 0.25;
        struct vector push[LULESH_CORNERS] = {{0, 0, 0}};
        for (unsigned f = 0; f < LULESH_FACES; ++f) {
            struct vector p[4];
            for (unsigned c = 0; c < 4; ++c) p[c] = node_at(u, corner_node(u, e, lulesh_face[f][c]));
            const struct vector normal = half_product(p[0], p[1], p[2], p[3]);
            for (unsigned c = 0; c < 4; ++c) {
                struct vector* to = &push[lulesh_face[f][c]];
                *to =
                    (struct vector){to->x + normal.x * quarter, to->y + normal.y * quarter, to->z + normal.z * quarter};
            }
        }
        for (unsigned c = 0; c < LULESH_CORNERS; ++c) {
            double* to = sum + 3ull * corner_node(u, e, c);
            to[0] += push[c].x;
            to[1] += push[c].y;
            to[2] += push[c].z;
        }
    }
    for (uint32_t node = 0; node < u->nodes; ++node)
        for (unsigned d = 0; d < 3; ++d) {
            const uint64_t at = (uint64_t)d * u->nodes + node;
            if (u->position[at] == 0) continue;
            u->velocity[at] += sum[3ull * node + d] / u->mass[node] * STEP;
            u->position[at] += u->velocity[at] * STEP;
        }
    for (uint32_t e = 0; e < u->elements; ++e) {
        double volume = 0;
        for (unsigned f = 0; f < LULESH_FACES; ++f) {
            struct vector p[4];
            for (unsigned c = 0; c < 4; ++c) p[c] = node_at(u, corner_node(u, e, lulesh_face[f][c]));
            const struct vector normal = half_product(p[0], p[1], p[2], p[3]);
            volume += ((p[0].x + p[1].x) + (p[2].x + p[3].x)) * 0.25 * normal.x / 3;
            volume += ((p[0].y + p[1].y) + (p[2].y + p[3].y)) * 0.25 * normal.y / 3;
            volume += ((p[0].z + p[1].z) + (p[2].z + p[3].z)) * 0.25 * normal.z / 3;
        }
        u->energy[e] -= u->pressure[e] * (volume - u->volume[e]);
        u->volume[e] = volume;
        u->pressure[e] = LULESH_GAMMA_1 * u->energy[e] / volume;
    }
}

bool app_lulesh_like(struct app* app) {
    struct cube u = {.n = (uint32_t)app->size};
    make_cube(app, &u);
    const uint64_t elements = u.elements, nodes = u.nodes;
    const struct lulesh_arguments a = {.corner = app_uploaded(app, u.corner, 4 * LULESH_CORNERS * elements),
                                       .row_start = app_uploaded(app, u.row_start, 4 * (nodes + 1)),
                                       .place = app_uploaded(app, u.place, 4 * LULESH_CORNERS * elements),
                                       .position = app_uploaded(app, u.position, 24 * nodes),
                                       .velocity = app_uploaded(app, u.velocity, 24 * nodes),
                                       .mass = app_uploaded(app, u.mass, 8 * nodes),
                                       .force = app_buffer(app, 24 * LULESH_CORNERS * elements),
                                       .volume = app_uploaded(app, u.volume, 8 * elements),
                                       .energy = app_uploaded(app, u.energy, 8 * elements),
                                       .pressure = app_uploaded(app, u.pressure, 8 * elements),
                                       .elements = u.elements,
                                       .nodes = u.nodes,
                                       .step = STEP};
    bool ran = true;
    app_measure_begin(app, "lulesh_force", "lulesh_motion", "lulesh_element");
    for (unsigned s = 0; s < STEPS && ran; ++s)
        ran = app_run_1d(app, app_kernel(app, "lulesh_force"), elements, GROUP, &a, sizeof a) &&
              app_run_1d(app, app_kernel(app, "lulesh_motion"), nodes, GROUP, &a, sizeof a) &&
              app_run_1d(app, app_kernel(app, "lulesh_element"), elements, GROUP, &a, sizeof a);
    app_measure_end(app);
    if (!ran) return false;
    for (unsigned s = 0; s < STEPS; ++s) host_step(&u);
    return app_doubles_are(app, a.position, u.position, 3 * nodes, "positions at") &&
           app_doubles_are(app, a.velocity, u.velocity, 3 * nodes, "velocities at") &&
           app_doubles_are(app, a.energy, u.energy, elements, "energies at") &&
           app_doubles_are(app, a.pressure, u.pressure, elements, "pressures at");
}
