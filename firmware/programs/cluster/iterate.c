/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/bootstrap/measure.h"
#include "gpu/kernels/network_copy.h"
#include "gpu/kernels/network_exchange.h"
#include "lib/console.h"
#include "lib/machine.h"
#include "lib/region.h"
#include "lib/result.h"
#include "programs/cluster/iteration.h"

enum { LOG_ENTRIES = 4 };
#define SCALE 10.0f

/* ---- a step ---- */

static bool compute(struct iteration* t, uint64_t step) {
    const gpu_address in = t->data[step & 1], out = t->data[~step & 1];
    const struct iterate* o = t->o;
    if (o->work == ITERATE_TRAIN) return train_compute(step);
    if (o->work == ITERATE_JACOBI) {
        const struct stencil_arguments a = {in, out, (uint32_t)o->columns, (uint32_t)o->rows + 2};
        const struct gpu_grid grid = {.items = {(uint32_t)o->columns, (uint32_t)o->rows + 2, 1}, .group = {64, 4, 1}};
        return app_run(&t->app, app_kernel(&t->app, "jacobi2d"), &grid, &a, sizeof a);
    }
    struct spmv_arguments a = t->a;
    a.row_start += 4 * t->rank * o->rows / 2;
    a.rows = o->rows / 2;
    a.x = in;
    a.y = out + t->from;
    return app_run_1d(&t->app, app_kernel(&t->app, "spmv"), a.rows, 64, &a, sizeof a);
}

static bool launch(struct iteration* t, uint64_t step, unsigned steps) {
    const struct backend* s = &t->backend;
    const unsigned peer = t->rank ^ 1;
    const uint64_t out = (step & 1) * t->bytes, in = 2 * t->bytes + out;
    const gpu_address written = t->data[~step & 1];
    const struct network_exchange_arguments a = {.access = s->access.lanes,
                                                 .from = written + t->from,
                                                 .out = s->payload.lanes + out,
                                                 .in = s->payload.lanes + in,
                                                 .to = written + t->to,
                                                 .remote = s->remote[peer].payload + in,
                                                 .remote_flag = s->remote[peer].control,
                                                 .flag = s->control.lanes,
                                                 .failed = t->failed.lanes,
                                                 .timeout = BACKEND_TIMEOUT_NS,
                                                 .bytes = (uint32_t)t->bytes,
                                                 .number = (uint32_t)step + 1,
                                                 .peer = peer,
                                                 .steps = steps};
    const struct gpu_grid grid = {.items = {EXCHANGE_GROUP}, .group = {EXCHANGE_GROUP}};
    struct gpu_queue_handle* q = &t->app.queue[0];
    return !app_wait(&t->app, q, gpu_dispatch(q, app_kernel(&t->app, "network_exchange"), &grid, &a, sizeof a));
}

static bool copy(struct iteration* t, gpu_address to, gpu_address from, bool adds) {
    const struct network_copy_arguments a = {from, to, (uint32_t)t->bytes / 4, adds};
    const struct gpu_grid grid = {.items = {EXCHANGE_GROUP * t->groups}, .group = {EXCHANGE_GROUP}};
    struct gpu_queue_handle* q = &t->app.queue[0];
    return !app_wait(&t->app, q, gpu_dispatch(q, app_kernel(&t->app, "network_copy"), &grid, &a, sizeof a));
}

static bool communicate(struct iteration* t, uint64_t step) {
    const uint64_t out = (step & 1) * t->bytes, in = 2 * t->bytes + out;
    if (!backend_is_host_driven(&t->backend)) return launch(t, step, EXCHANGE_COMMUNICATE);
    host_endpoint_put(&t->host_endpoint, t->rank ^ 1, out, in, (uint32_t)t->bytes);
    host_endpoint_notify(&t->host_endpoint, t->rank ^ 1, 0, (step + 1) << 32);
    host_endpoint_wait(&t->host_endpoint, 0, (uint32_t)step + 1);
    return true;
}

/* What one work-group can carry is packed, given and unpacked by one kernel, unless the host gives it. */
static bool exchange(struct iteration* t, uint64_t step) {
    const gpu_address out = t->backend.payload.lanes + (step & 1) * t->bytes, in = out + 2 * t->bytes,
                      written = t->data[~step & 1];
    if (t->groups > 1)
        return copy(t, out, written + t->from, false) && communicate(t, step) && copy(t, written + t->to, in, t->adds);
    if (!backend_is_host_driven(&t->backend))
        return launch(t, step, EXCHANGE_PACK | EXCHANGE_COMMUNICATE | EXCHANGE_UNPACK);
    return launch(t, step, EXCHANGE_PACK) && communicate(t, step) && launch(t, step, EXCHANGE_UNPACK);
}

/* ---- data, and what the host makes of them ---- */

static float start_value(uint64_t at) { return (float)((at * 7919) % 1009) * 0.125f; }

static uint64_t floats(const struct iteration* t) {
    return t->o->work == ITERATE_JACOBI ? (t->o->rows + 2) * t->o->columns : t->o->rows;
}

/* Of the whole grid, rows 0 and 2 · rows + 1 are its border. A node's part begins with the row above its own ones. */
static void start(struct iteration* t) {
    const struct iterate* o = t->o;
    t->groups = 1;
    if (o->work == ITERATE_TRAIN) return train_start(t);
    const uint64_t count = floats(t), first = o->work == ITERATE_JACOBI ? t->rank * o->rows * o->columns : 0;
    float* values = app_host(&t->app, 4 * count);
    for (uint64_t i = 0; i < count; ++i) values[i] = start_value(first + i);
    for (unsigned i = 0; i < 2; ++i) t->data[i] = app_uploaded(&t->app, values, 4 * count);
    if (o->work == ITERATE_JACOBI) {
        t->bytes = 4 * o->columns;
        t->from = t->bytes * (t->rank ? 1 : o->rows);
        t->to = t->rank ? 0 : t->bytes * (o->rows + 1);
        return;
    }
    matrix_generate(&t->app, &t->m, o->rows, 0.01, SCALE);
    t->a = matrix_place(&t->app, &t->m);
    t->bytes = 2 * o->rows;
    t->from = t->rank * t->bytes;
    t->to = (t->rank ^ 1) * t->bytes;
}

static void jacobi_on_host(const struct iteration* t, const float* from, float* to) {
    const uint64_t width = t->o->columns, height = 2 * t->o->rows + 2;
    for (uint64_t y = 1; y + 1 < height; ++y)
        for (uint64_t x = 1; x + 1 < width; ++x) {
            const float* at = from + y * width + x;
            to[y * width + x] = 0.2f * (((*at + at[-1]) + (at[1] + at[width])) + *(at - width));
        }
}

static void spmv_on_host(const struct iteration* t, const float* x, float* y) {
    for (uint64_t row = 0; row < t->m.rows; ++row) {
        float sum = 0;
        for (uint32_t k = t->m.row_start[row]; k < t->m.row_start[row + 1]; ++k) {
            const struct matrix_entry e = matrix_entry(&t->m, row, k);
            const float product = e.value * x[e.column];
            sum = sum + product;
        }
        y[row] = sum;
    }
}

/* The host solves all of it; a node has to have its own part, and what it was given. */
static bool is_correct(struct iteration* t) {
    const struct iterate* o = t->o;
    if (o->work == ITERATE_TRAIN) return train_is_correct(t);
    const bool jacobi = o->work == ITERATE_JACOBI;
    const uint64_t all = jacobi ? (2 * o->rows + 2) * o->columns : o->rows,
                   first = jacobi ? t->rank * o->rows * o->columns : 0;
    float* values[2] = {app_host(&t->app, 4 * all), app_host(&t->app, 4 * all)};
    for (uint64_t i = 0; i < all; ++i) values[0][i] = values[1][i] = start_value(i);
    for (uint64_t step = 0; step < o->steps; ++step)
        (jacobi ? jacobi_on_host : spmv_on_host)(t, values[step & 1], values[~step & 1]);
    float* found = app_host(&t->app, 4 * floats(t));
    app_download(&t->app, found, t->data[o->steps & 1], 4 * floats(t));
    return !memcmp(found, values[o->steps & 1] + first, 4 * floats(t));
}

const char* const iterate_work_names[] = {"all", "jacobi", "spmv", "training", NULL};

bool iterate_run(struct bootstrap* bootstrap, struct gpu_node* node, struct gpu_queue_handle* queues,
                 const struct iterate* o) {
    static struct iteration t;
    static const char* const names[] = {
        [ITERATE_JACOBI] = "grid", [ITERATE_SPMV] = "vector", [ITERATE_TRAIN] = "training"};
    const char* name = names[o->work];
    t = (struct iteration){.app = {.node = node, .queue = queues, .size = o->rows, .line = "spmv", .random = 1},
                           .o = o,
                           .rank = bootstrap->comm.rank};
    start(&t);
    t.backend = (struct backend){.kind = o->backend,
                                 .queue_pairs = o->queues,
                                 .bootstrap = bootstrap,
                                 .node = node,
                                 .threads = o->threads,
                                 .groups = 1,
                                 .log_entries = LOG_ENTRIES,
                                 .payload_bytes = 4 * t.bytes};
    backend_open(&t.backend);
    if (backend_is_host_driven(&t.backend)) host_endpoint_init(&t.host_endpoint, &t.backend);
    t.failed = rdma_buffer_allocate(node, 4, false);
    app_kernel(&t.app, "network_exchange");
    if (o->work != ITERATE_TRAIN) app_kernel(&t.app, o->work == ITERATE_JACOBI ? "jacobi2d" : "spmv");
    backend_barrier(&t.backend);
    if (!t.rank) region_begin(name);
    const uint64_t begin = clock_cycles();
    uint64_t computing = 0;
    bool ok = true;
    for (uint64_t step = 0; step < o->steps && ok; ++step) {
        uint64_t then = clock_cycles();
        ok = compute(&t, step);
        computing += clock_cycles() - then;
        ok = ok && exchange(&t, step);
        then = clock_cycles();
        if (o->work == ITERATE_TRAIN) ok = ok && train_update();
        computing += clock_cycles() - then;
    }
    const uint64_t cycles = clock_cycles() - begin;
    if (!t.rank) region_end();
    if (backend_is_host_driven(&t.backend)) ok = host_endpoint_finish(&t.host_endpoint) && ok;
    const uint32_t status = *(const volatile uint32_t*)t.failed.memory.at;
    if (status) console_printf("%s: a request failed, status 0x%x\n", name, status);
    backend_close(&t.backend);
    ok = ok && !status && !t.app.failed && is_correct(&t);
    result_begin("iterate");
    result_text("work", iterate_work_names[o->work]);
    result_text("backend", backend_name(o->backend));
    result_u64("steps", o->steps);
    result_u64("time_ps", clock_picoseconds(cycles));
    result_u64("computing_time_ps", clock_picoseconds(computing));
    result_end();
    console_printf("%-10s %s\n", name, ok ? "ok" : "FAILED");
    return ok;
}
