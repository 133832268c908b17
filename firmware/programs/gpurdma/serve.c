/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/gpurdma/serve.h"

#include "drivers/bootstrap/measure.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/pattern.h"
#include "lib/result.h"

/* STAGED_BLOCK: GASPI_GPU_BUFFERED of GPI-2 1.1.1, whose gaspi_gpu_write_notify() copies what is larger than 32 KiB */
enum { WARM = 2, LOG_SQ_SIZE = 6, MAX_GROUPS = 64, SMALL = 8, STAGED_BLOCK = 128 << 10 };

static struct pgas_link links[MAX_GROUPS];
static struct endpoint endpoint;
static struct rdma_buffer staging;
static struct verbs_mr staging_mr;

static float entry(unsigned row, unsigned column) { return (float)((row * 7 + column * 5) % SMALL) - SMALL / 2; }

/* Whole numbers so small that sums of products are exact, whatever their order. */
static float element(uint64_t index, unsigned parity) { return (float)(pattern_word(parity + 1, index) % SMALL); }

const char* const serve_worker_names[] = {"none", "hart", "kernel", NULL};

void serve_check(const struct serve* s) {
    const uint64_t unit = s->groups * (s->multiply ? SERVE_VECTOR : 8);
    if (s->groups > MAX_GROUPS) usage_error("groups=%lu: 1 to %u", s->groups, MAX_GROUPS);
    if (s->multiply && s->items % SERVE_ROWS)
        usage_error("items=%lu: with multiply=1 a multiple of %u", s->items, SERVE_ROWS);
    if (s->bytes % unit || (s->multiply && !s->bytes)) usage_error("bytes=%lu: a multiple of %lu", s->bytes, unit);
    if (s->replies != s->groups && (s->replies != 1 || s->worker == SERVE_BY_KERNEL))
        usage_error("replies=%lu: %sgroups=%lu", s->replies, s->worker == SERVE_BY_KERNEL ? "of a kernel, " : "1 or ",
                    s->groups);
    if (s->staged && (s->worker != SERVE_BY_HART || s->replies != 1 || !s->bytes))
        usage_error("staged=1: with serve=hart, replies=1 and bytes");
    if (s->copy_ns && !s->staged) usage_error("copy_ns=%lu: with staged=1", s->copy_ns);
}

/* ---- master: batches of even rounds, of odd ones; results of these ---- */

static uint64_t home(const struct serve* s, unsigned parity) { return (2 + parity) * s->bytes; }

static void fill(const struct serve* s) {
    float* to = (float*)endpoint.payload.memory.at;
    for (unsigned parity = 0; parity < 2; ++parity)
        for (uint64_t i = 0; i < s->bytes / 4; ++i) *to++ = element(i, parity);
}

static void send(const struct serve* s, uint64_t round) {
    const uint64_t from = (round & 1) * s->bytes, parts = s->own ? s->groups : 1, part = s->bytes / parts;
    for (unsigned i = 0; i < parts; ++i) {
        if (part)
            pgas_write_notify(&links[i], from + i * part, i * part, (uint32_t)part, i, round);
        else
            pgas_notify(&links[i], i, round);
    }
}

static uint64_t ask(const struct serve* s) {
    uint64_t begin = 0;
    for (uint64_t round = 1; round <= WARM + s->rounds; ++round) {
        if (round == WARM + 1) begin = clock_cycles();
        send(s, round);
        for (unsigned i = 0; i < s->replies; ++i) pgas_wait(&links[i], i, round);
        for (unsigned i = 0; i < s->groups; ++i) pgas_progress(&links[i]);
    }
    return clock_cycles() - begin;
}

static bool is_correct(const struct serve* s) {
    static float matrix[SERVE_ROWS][SERVE_ROWS];
    for (unsigned r = 0; r < SERVE_ROWS; ++r)
        for (unsigned c = 0; c < SERVE_ROWS; ++c) matrix[r][c] = entry(r, c);
    for (unsigned parity = 0; parity < 2; ++parity) {
        const float* in = (const float*)(endpoint.payload.memory.at + parity * s->bytes);
        const float* got = (const float*)(endpoint.payload.memory.at + home(s, parity));
        for (uint64_t i = 0; i < s->bytes / 4; ++i) {
            float expected = in[i];
            if (s->multiply) {
                const float* x = in + i / SERVE_ROWS * SERVE_ROWS;
                expected = 0;
                for (unsigned k = 0; k < SERVE_ROWS; ++k) expected += matrix[i % SERVE_ROWS][k] * x[k];
            }
            if (got[i] != expected) return false;
        }
    }
    return true;
}

/* ---- worker: the batch, behind it its results ---- */

static struct gpu_kernel kernel(struct gpu_node* node) { return gpu_linked_kernel(node, "rdma_serve", "rdma_serve"); }

static struct rdma_serve_arguments describe(const struct serve* s, gpu_address at) {
    const struct rdma_buffer matrix = rdma_buffer_allocate(s->node, SERVE_ROWS * SERVE_VECTOR, true);
    float m[SERVE_ROWS][SERVE_ROWS];
    for (unsigned r = 0; r < SERVE_ROWS; ++r)
        for (unsigned c = 0; c < SERVE_ROWS; ++c) m[r][c] = entry(r, c);
    rdma_buffer_write(s->node, &matrix, 0, m, sizeof m);
    return (struct rdma_serve_arguments){.links = at,
                                         .matrix = matrix.lanes,
                                         .in = endpoint.payload.lanes,
                                         .out = endpoint.payload.lanes + s->bytes,
                                         .out_offset = s->multiply ? s->bytes : 0,
                                         .result_offset = home(s, 0),
                                         .result_stride = s->bytes,
                                         .bytes = s->bytes,
                                         .first_round = 1,
                                         .rounds = (uint32_t)(WARM + s->rounds),
                                         .task = s->multiply ? SERVE_MATVEC : SERVE_ECHO,
                                         .own = s->own};
}

static bool wait_kernel(const struct serve* s, uint64_t packet) {
    const unsigned fault = gpu_wait(s->queue, packet);
    if (fault) {
        console_printf("kernel: %s\n", gpu_fault_name(fault));
        gpu_print_faults(s->node, &s->node->gpu[0]);
    }
    return !fault;
}

static bool serve_by_kernel(const struct serve* s, struct gpu_kernel k, const struct gpu_grid* grid) {
    const struct rdma_buffer at = rdma_buffer_allocate(s->node, s->groups * sizeof *links, true);
    rdma_buffer_write(s->node, &at, 0, links, s->groups * sizeof *links);
    const struct rdma_serve_arguments a = describe(s, at.lanes);
    const uint64_t packet = gpu_dispatch(s->queue, k, grid, &a, sizeof a);
    bootstrap_barrier_with(s->bootstrap, s->with);
    if (!wait_kernel(s, packet)) return false;
    rdma_buffer_read(s->node, links, &at, 0, s->groups * sizeof *links);
    return true;
}

/* Offsets of the link are those of the worker's memory in the GPU; now they mean as much of the host's. */
static void make_staging(const struct serve* s, uint64_t out_offset) {
    staging = rdma_buffer_allocate(s->node, s->bytes, false);
    if (!rdma_buffer_register(&staging_mr, &s->bootstrap->pd, &staging, VERBS_ALL_RIGHTS))
        panic("serve: memory cannot be registered, status 0x%x", s->bootstrap->hca.status);
    links[0].data.local = staging.lanes - out_offset;
    links[0].data.lkey = staging_mr.key;
}

static void copy_block(const struct serve* s, uint64_t out_offset, uint64_t at, uint64_t bytes) {
    const uint64_t begin = clock_cycles();
    while (clock_picoseconds(clock_cycles() - begin) < 1000 * s->copy_ns) {
    }
    if (gpu_copy_from(s->node, (void*)(staging.memory.at + at), endpoint.payload.lanes + out_offset + at, bytes))
        panic("serve: results cannot be copied");
}

/* Block by block, the notification behind the last one. */
static void reply_staged(const struct serve* s, uint64_t out_offset, uint64_t round) {
    for (uint64_t at = 0, bytes; at < s->bytes; at += bytes) {
        bytes = s->bytes - at < STAGED_BLOCK ? s->bytes - at : STAGED_BLOCK;
        copy_block(s, out_offset, at, bytes);
        if (at + bytes < s->bytes)
            pgas_write(&links[0], out_offset + at, home(s, round & 1) + at, (uint32_t)bytes);
        else
            pgas_write_notify(&links[0], out_offset + at, home(s, round & 1) + at, (uint32_t)bytes, 0, round);
    }
}

static bool serve_by_hart(const struct serve* s, struct gpu_kernel k, const struct gpu_grid* grid) {
    struct rdma_serve_arguments a = describe(s, 0);
    gpu_use_interrupts(&s->node->gpu[0], PCI_POLLED); /* as a run-time that spins */
    if (s->staged) make_staging(s, a.out_offset);
    bootstrap_barrier_with(s->bootstrap, s->with);
    for (uint64_t round = 1; round <= WARM + s->rounds; ++round) {
        const uint64_t part = s->bytes / s->replies, arrivals = s->own ? s->groups : 1;
        for (unsigned i = 0; i < arrivals; ++i) pgas_wait(&links[i], i, round);
        a.first_round = (uint32_t)round;
        a.rounds = 1;
        if (s->multiply && !wait_kernel(s, gpu_dispatch(s->queue, k, grid, &a, sizeof a))) return false;
        if (s->staged) reply_staged(s, a.out_offset, round);
        for (unsigned i = 0; i < s->replies && !s->staged; ++i) {
            if (part)
                pgas_write_notify(&links[i], a.out_offset + i * part, home(s, round & 1) + i * part, (uint32_t)part, i,
                                  round);
            else
                pgas_notify(&links[i], i, round);
        }
        for (unsigned i = 0; i < s->replies; ++i) pgas_progress(&links[i]);
    }
    return true;
}

bool serve_run(const struct serve* s) {
    const bool master = s->bootstrap->comm.rank < s->with, by_kernel = !master && s->worker == SERVE_BY_KERNEL;
    const struct endpoint_shape shape = {.qps = (unsigned)s->groups,
                                         .log_sq_size = LOG_SQ_SIZE,
                                         .log_rq_size = 1,
                                         .log_cq = LOG_SQ_SIZE + 1,
                                         .lanes = by_kernel,
                                         .queues_in_gpu = by_kernel,
                                         .cqs_in_gpu = by_kernel,
                                         .records_in_gpu = by_kernel,
                                         .notifications_in_gpu = by_kernel,
                                         .payload_in_gpu = !master,
                                         .payload = 4 * s->bytes + GPU_PAGE};
    bool ok = true;
    endpoint_open(&endpoint, s->bootstrap, s->node, s->with, &shape);
    for (unsigned i = 0; i < s->groups; ++i) links[i] = endpoint_link(&endpoint, i);
    if (master) {
        fill(s);
        bootstrap_barrier_with(s->bootstrap, s->with);
        const uint64_t time_ps = clock_picoseconds(ask(s));
        result_begin("serve");
        result_u64("rounds", s->rounds);
        result_u64("bytes", s->bytes);
        result_u64("time_ps", time_ps);
        result_end();
        ok = is_correct(s);
        if (!ok) console_printf("results are wrong\n");
    } else {
        const struct gpu_kernel k = kernel(s->node);
        const struct gpu_grid grid = {.items = {(uint32_t)(s->groups * s->items)}, .group = {(uint16_t)s->items}};
        ok = by_kernel ? serve_by_kernel(s, k, &grid) : serve_by_hart(s, k, &grid);
        bootstrap_wait_for(s->bootstrap, s->with);
    }
    for (unsigned i = 0; i < s->groups; ++i) ok = (by_kernel ? !links[i].syndrome : pgas_flush(&links[i])) && ok;
    bootstrap_barrier_with(s->bootstrap, s->with);
    console_printf("serve      %s\n", ok ? "ok" : "FAILED");
    return ok;
}
