/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/compnet/jacobi_solver.h"

#include "drivers/bootstrap/measure.h"
#include "lib/console.h"
#include "lib/csr.h"
#include "lib/harts.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/region.h"
#include "lib/result.h"
#include "lib/timer.h"

enum { LOG_ENTRIES = 4 };

/* ---- what the host says and hears ---- */

static void exchange_rows(struct solver* s, uint32_t iteration) {
    const uint64_t rows = s->o->rows, word = COLLECTIVE_NUMBER(iteration);
    if (s->rank) {
        host_endpoint_put(&s->host_endpoint, s->rank - 1, row_at(s, iteration, 1), row_at(s, iteration, rows + 1),
                          (uint32_t)pitch_of(s));
        host_endpoint_notify(&s->host_endpoint, s->rank - 1, halo_at(1), word);
    }
    if (s->rank + 1 < s->nodes) {
        host_endpoint_put(&s->host_endpoint, s->rank + 1, row_at(s, iteration, rows), row_at(s, iteration, 0),
                          (uint32_t)pitch_of(s));
        host_endpoint_notify(&s->host_endpoint, s->rank + 1, halo_at(0), word);
    }
}

static uint32_t reduce(struct solver* s, uint32_t iteration, uint32_t bits) {
    for (unsigned level = 0; 1u << level < s->nodes; ++level) {
        const uint64_t at = change_at(level, iteration);
        host_endpoint_notify(&s->host_endpoint, s->rank ^ 1u << level, at, COLLECTIVE_NUMBER(iteration) | bits);
        const uint32_t other = (uint32_t)host_endpoint_wait(&s->host_endpoint, at, iteration);
        bits = other > bits ? other : bits;
    }
    return bits;
}

static void finish_iteration(struct solver* s, uint32_t iteration, uint32_t bits) {
    exchange_rows(s, iteration);
    s->change[iteration] = reduce(s, iteration, bits);
    if (s->rank) host_endpoint_wait(&s->host_endpoint, halo_at(0), iteration);
    if (s->rank + 1 < s->nodes) host_endpoint_wait(&s->host_endpoint, halo_at(1), iteration);
}

/* ---- the CPUs ---- */

static float* host_row(const struct solver* s, uint32_t iteration, uint64_t row) {
    return (float*)(s->backend.payload.memory.at + row_at(s, iteration, row));
}

static uint32_t update(const struct solver* s, uint32_t iteration, uint64_t begin, uint64_t end) {
    float change = 0;
    for (uint64_t row = begin; row < end; ++row) {
        const float *from = host_row(s, iteration - 1, row), *above = host_row(s, iteration - 1, row - 1),
                    *below = host_row(s, iteration - 1, row + 1);
        float* to = host_row(s, iteration, row);
        for (uint64_t x = 1; x + 1 < s->o->columns; ++x) {
            const float value = 0.25f * ((from[x - 1] + from[x + 1]) + (above[x] + below[x]));
            const float d = __builtin_fabsf(value - from[x]);
            change = d > change ? d : change;
            to[x] = value;
        }
    }
    return jacobi_bits(change);
}

__attribute__((noinline)) static void solve_part(struct solver* s, uint64_t core) {
    const uint64_t cores = s->o->cores, rows = s->o->rows;
    for (uint32_t iteration = 1; iteration <= s->o->iterations; ++iteration) {
        s->max_change[core] = update(s, iteration, 1 + rows * core / cores, 1 + rows * (core + 1) / cores);
        __atomic_fetch_add(&s->arrived, 1, __ATOMIC_ACQ_REL);
        if (core) {
            while (__atomic_load_n(&s->released, __ATOMIC_ACQUIRE) < iteration) relax();
            continue;
        }
        while (__atomic_load_n(&s->arrived, __ATOMIC_ACQUIRE) != iteration * cores) relax();
        uint32_t bits = 0;
        for (unsigned i = 0; i < cores; ++i) bits = s->max_change[i] > bits ? s->max_change[i] : bits;
        finish_iteration(s, iteration, bits);
        __atomic_store_n(&s->released, iteration, __ATOMIC_RELEASE);
    }
}

/* Not in one function with floats, which saves their registers as soon as it is called. */
static void work(void* argument) {
    struct solver* s = argument;
    if (hart_id() >= s->o->cores) return;
    csr_set(mstatus, MSTATUS_FLOATS);
    solve_part(s, hart_id());
}

/* ---- the GPU ---- */

struct gpu_kernel jacobi_kernel(struct gpu_node* node) {
    return gpu_linked_kernel(node, "network_jacobi", "network_jacobi");
}

struct network_jacobi_arguments jacobi_arguments(const struct solver* s, const struct gpu_side* g, uint32_t first,
                                                 uint32_t iterations) {
    const struct backend* c = &s->backend;
    struct network_jacobi_arguments a = {.access = c->access.lanes,
                                         .sync = g->sync.lanes,
                                         .change = g->change.lanes,
                                         .segments = backend_control_segments(c),
                                         .grid = {c->payload.lanes, c->payload.lanes + s->grid_bytes},
                                         .timeout = BACKEND_TIMEOUT_NS,
                                         .rows = (uint32_t)s->o->rows,
                                         .columns = (uint32_t)s->o->columns,
                                         .first = first,
                                         .iterations = iterations,
                                         .uses_network = backend_is_in_kernel(c)};
    for (unsigned below = 0; below < 2; ++below) {
        const unsigned peer = s->rank + (below ? 1 : -1u);
        if (peer >= s->nodes) continue;
        for (unsigned k = 0; k < 2; ++k) a.remote_grid[below][k] = c->remote[peer].payload + k * s->grid_bytes;
    }
    return a;
}

struct gpu_grid jacobi_grid(const struct solver* s) {
    /* Work-groups wait for each other: more of them than the GPU holds would wait for good. */
    return (struct gpu_grid){
        .items = {(uint32_t)(JACOBI_GROUP * s->o->groups)}, .group = {JACOBI_GROUP}, .cooperative = true};
}

static void launch(struct solver* s, struct gpu_side* g, uint32_t first, uint32_t iterations) {
    const struct network_jacobi_arguments a = jacobi_arguments(s, g, first, iterations);
    const struct gpu_grid grid = jacobi_grid(s);
    const struct jacobi_sync nothing = {0};
    rdma_buffer_write(s->backend.node, &g->sync, 0, &nothing, sizeof nothing);
    if (s->o->driver_us) timer_wait(s->o->driver_us);
    const unsigned fault =
        gpu_wait(g->queue, gpu_dispatch(g->queue, jacobi_kernel(s->backend.node), &grid, &a, sizeof a));
    if (fault) panic("jacobi: the kernel ended with fault %u", fault);
}

static bool solve_on_gpu(struct solver* s, struct gpu_side* g) {
    const uint32_t iterations = (uint32_t)s->o->iterations;
    const volatile uint32_t* change = (const volatile uint32_t*)g->change.memory.at;
    struct jacobi_sync sync;
    if (s->backend.kind == BACKEND_GDS) return jacobi_stream(s, g);
    if (!backend_is_host_driven(&s->backend)) {
        launch(s, g, 1, iterations);
        rdma_buffer_read(s->backend.node, &sync, &g->sync, 0, sizeof sync);
        if (sync.failed) console_printf("jacobi: a request failed, status 0x%x\n", sync.failed);
        for (uint32_t i = 1; i <= iterations; ++i) s->change[i] = change[i];
        return !sync.failed;
    }
    for (uint32_t i = 1; i <= iterations; ++i) {
        launch(s, g, i, 1);
        finish_iteration(s, i, change[i]);
    }
    return true;
}

/* ---- both ---- */

/* The whole grid has numbers that depend on where they are; so has every halo at the beginning. */
static float start_value(const struct solver* s, uint64_t row, uint64_t x) {
    const uint64_t global = s->rank * s->o->rows + row;
    return (float)((global * 7919 + x * 104729) % 1009) * 0.125f;
}

static float* make_grids(const struct solver* s) {
    float* grid = heap_allocate_aligned(2 * s->grid_bytes, GPU_PAGE);
    if (!grid) panic("jacobi: out of memory");
    for (uint64_t row = 0; row < s->o->rows + 2; ++row)
        for (uint64_t x = 0; x < s->o->columns; ++x)
            grid[row * s->o->columns + x] = grid[s->grid_bytes / 4 + row * s->o->columns + x] = start_value(s, row, x);
    return grid;
}

static void prepare(struct solver* s, float* grids) {
    struct backend* c = &s->backend;
    const struct jacobi_flags nothing = {0};
    c->payload_bytes = 2 * s->grid_bytes;
    backend_open(c);
    rdma_buffer_write(c->node, &c->payload, 0, grids, 2 * s->grid_bytes);
    rdma_buffer_write(c->node, &c->control, 0, &nothing, sizeof nothing);
    if (backend_is_host_driven(c)) host_endpoint_init(&s->host_endpoint, c);
    s->change = heap_allocate((s->o->iterations + 1) * 4);
    if (!s->change) panic("jacobi: out of memory");
    backend_barrier(c);
}

static void report(const struct solver* s, uint64_t cycles) {
    if (s->rank) return;
    result_begin("jacobi");
    result_text("backend", backend_name(s->backend.kind));
    result_u64("rows", s->o->rows);
    result_u64("columns", s->o->columns);
    result_u64("iterations", s->o->iterations);
    result_u64("time_ps", clock_picoseconds(cycles));
    result_end();
}

static bool solve_by_cpus(struct solver* s, float* grids) {
    s->backend.kind = BACKEND_CPU;
    prepare(s, grids);
    if (!s->rank) region_begin("cpu");
    const uint64_t begin = clock_cycles();
    harts_run(work, s);
    report(s, clock_cycles() - begin);
    if (!s->rank) region_end();
    const bool ok = host_endpoint_finish(&s->host_endpoint);
    backend_close(&s->backend);
    return ok;
}

static bool solve_by_gpus(struct solver* s, struct gpu_queue_handle* queue, float* grids) {
    struct gpu_node* node = s->backend.node;
    prepare(s, grids);
    static struct gpu_side side;
    side = (struct gpu_side){.queue = queue,
                             .sync = rdma_buffer_allocate(node, sizeof(struct jacobi_sync), true),
                             .change = rdma_buffer_allocate(node, 4 * (s->o->iterations + 1), false)};
    jacobi_kernel(node);
    if (s->backend.kind == BACKEND_GDS) jacobi_stream_begin(s, &side);
    backend_barrier(&s->backend);
    if (!s->rank) region_begin("jacobi");
    const uint64_t begin = clock_cycles();
    bool ok = solve_on_gpu(s, &side);
    report(s, clock_cycles() - begin);
    if (!s->rank) region_end();
    if (backend_is_host_driven(&s->backend)) ok = host_endpoint_finish(&s->host_endpoint) && ok;
    backend_close(&s->backend);
    rdma_buffer_read(node, grids, &s->backend.payload, 0, 2 * s->grid_bytes);
    return ok;
}

/* The own rows of the last grid, and all changes. */
static bool is_same(const struct solver* cpu, const struct solver* gpu, const float* grids) {
    const uint64_t at = row_at(gpu, (uint32_t)gpu->o->iterations, 1);
    const bool same = memcmp((const uint8_t*)grids + at, (const void*)(cpu->backend.payload.memory.at + at),
                             gpu->o->rows * pitch_of(gpu)) == 0;
    bool alike = true;
    for (uint64_t i = 1; i <= gpu->o->iterations; ++i)
        alike = alike && gpu->change[i] == cpu->change[i] && cpu->change[i];
    if (!same || !alike) console_printf("the GPU finds something else than the CPU: %s\n", same ? "changes" : "grids");
    return same && alike;
}

static void print_digest(const struct solver* s, const void* grids) {
    const uint64_t* words = (const uint64_t*)((uintptr_t)grids + row_at(s, (uint32_t)s->o->iterations, 1));
    uint64_t digest = s->change[s->o->iterations];
    for (uint64_t i = 0; i < s->o->rows * pitch_of(s) / 8; ++i)
        digest = (digest ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15) + i;
    result_begin("digest");
    result_hex("value", digest);
    result_end();
}

void jacobi_check(const struct jacobi_options* o, unsigned nodes) {
    if (nodes & (nodes - 1) || nodes > 1u << COLLECTIVE_MAX_STEPS)
        usage_error("nodes=%u: a power of two, up to %u", nodes, 1u << COLLECTIVE_MAX_STEPS);
    if (o->rows % o->groups) usage_error("rows=%lu: a multiple of groups=%lu", o->rows, o->groups);
    if (o->columns % 16) usage_error("columns=%lu: a multiple of 16", o->columns);
    if (o->cores > machine.harts)
        usage_error("cores=%lu: %u at most, as many as the host has harts", o->cores, machine.harts);
}

bool jacobi_run(const struct backend* from, struct gpu_queue_handle* queue, const struct jacobi_options* o) {
    static struct solver cpu, gpu;
    struct solver base = {.o = o,
                          .backend = *from,
                          .rank = from->bootstrap->comm.rank,
                          .nodes = from->bootstrap->comm.size,
                          .grid_bytes = 4 * (o->rows + 2) * o->columns};
    jacobi_check(o, base.nodes); /* here there may be fewer cores than at node 0 */
    base.backend.groups = JACOBI_QUEUES;
    base.backend.log_entries = LOG_ENTRIES;
    const enum backend_kind kind = from->kind;
    float* grids = make_grids(&base);
    bool ok = true;
    clock_start();
    cpu = gpu = base;
    if (o->reference || kind == BACKEND_CPU) ok = solve_by_cpus(&cpu, grids);
    if (kind == BACKEND_CPU) {
        print_digest(&cpu, (const void*)cpu.backend.payload.memory.at);
    } else {
        ok = solve_by_gpus(&gpu, queue, grids) && ok;
        print_digest(&gpu, grids);
        if (o->reference) ok = is_same(&cpu, &gpu, grids) && ok;
    }
    console_printf("jacobi     %s\n", ok ? "ok" : "FAILED");
    heap_free(grids);
    return ok;
}
