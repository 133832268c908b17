/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/compnet/reducer.h"

#include "drivers/bootstrap/measure.h"
#include "lib/console.h"
#include "lib/csr.h"
#include "lib/harts.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/region.h"
#include "lib/result.h"
#include "lib/timer.h"
#include "programs/compnet/expected.h"

enum { BLOCK = 1 << 16 /* floats */ };

/* ---- what kernels do ---- */

struct gpu_grid reduce_grid(const struct reducer* s) {
    return (struct gpu_grid){.items = {REDUCE_GROUP * s->backend.groups}, .group = {REDUCE_GROUP}};
}

static void launch(struct reducer* s, struct gpu_kernel kernel, const void* arguments, size_t bytes) {
    const struct gpu_grid grid = reduce_grid(s);
    if (s->o->driver_us) timer_wait(s->o->driver_us);
    const unsigned fault = gpu_wait(s->queue, gpu_dispatch(s->queue, kernel, &grid, arguments, bytes));
    if (fault) panic("reduce: the kernel ended with fault %u", fault);
}

static struct gpu_kernel reduce_kernel(const struct reducer* s) {
    return gpu_linked_kernel(s->backend.node, "network_reduce", "network_reduce");
}
struct gpu_kernel reduce_combine_kernel(const struct reducer* s) {
    return gpu_linked_kernel(s->backend.node, "network_combine", "network_combine");
}

static void reduce_in_kernel(struct reducer* s, uint32_t rounds) {
    const struct network_reduce_arguments a = {.access = s->backend.access.lanes,
                                               .results = s->results.lanes,
                                               .segments = backend_payload_segments(&s->backend),
                                               .elements = s->elements,
                                               .staging = s->staging,
                                               .pitch = s->pitch,
                                               .flags = s->flags,
                                               .timeout = REDUCE_TIMEOUT_NS,
                                               .algorithm = s->o->algorithm,
                                               .rounds = rounds};
    launch(s, reduce_kernel(s), &a, sizeof a);
}

/* ---- between kernels ---- */

struct reduce_transfer reduce_transfer(const struct reducer* s, uint32_t round, unsigned step) {
    const enum collective_algorithm algorithm = s->o->algorithm;
    const unsigned chunks = collective_chunks(algorithm, s->nodes);
    struct reduce_transfer m = {.step = collective_step(algorithm, s->rank, s->nodes, step),
                                .number = round * collective_steps(algorithm, s->nodes) + step + 1};
    const uint64_t staging = s->staging + m.step.staging_slot * s->pitch;
    m.sent = 4 * collective_chunk_begin(s->elements, chunks, m.step.send_chunk);
    m.bytes_sent = 4 * collective_chunk_begin(s->elements, chunks, m.step.send_chunk + 1u) - m.sent;
    m.arrives = m.sent + (m.step.adds ? staging : 0);
    m.received = 4 * collective_chunk_begin(s->elements, chunks, m.step.receive_chunk);
    m.bytes_received = 4 * collective_chunk_begin(s->elements, chunks, m.step.receive_chunk + 1u) - m.received;
    m.staged = staging + m.received;
    return m;
}

struct network_combine_arguments reduce_combine_arguments(const struct reducer* s, const struct reduce_transfer* m) {
    const uint64_t at = s->backend.payload.lanes;
    return (struct network_combine_arguments){at + m->received, at + m->staged, m->bytes_received / 4};
}

struct addition {
    float* to;
    const float* other;
    uint64_t elements, cores;
};

__attribute__((noinline)) static void add(const struct addition* a, uint64_t core) {
    for (uint64_t i = a->elements * core / a->cores; i < a->elements * (core + 1) / a->cores; ++i)
        a->to[i] = a->to[i] + a->other[i];
}
static void add_part(void* argument) {
    const struct addition* a = argument;
    if (hart_id() >= a->cores) return;
    csr_set(mstatus, MSTATUS_FLOATS);
    add(a, hart_id());
}

static void combine(struct reducer* s, const struct reduce_transfer* m) {
    const uintptr_t at = s->backend.payload.memory.at;
    if (!m->bytes_received) return;
    if (s->backend.kind == BACKEND_CPU) {
        struct addition a = {(float*)(at + m->received), (const float*)(at + m->staged), m->bytes_received / 4,
                             s->o->cores};
        harts_run(add_part, &a);
        return;
    }
    const struct network_combine_arguments a = reduce_combine_arguments(s, m);
    launch(s, reduce_combine_kernel(s), &a, sizeof a);
}

static void reduce_on_host(struct reducer* s) {
    bool flushed = false;
    for (unsigned i = 0; i < collective_steps(s->o->algorithm, s->nodes); ++i) {
        const struct reduce_transfer m = reduce_transfer(s, s->completed, i);
        if (m.step.sends && m.bytes_sent)
            host_endpoint_put(&s->host_endpoint, m.step.to, m.sent, m.arrives, (uint32_t)m.bytes_sent);
        if (m.step.sends)
            host_endpoint_notify(&s->host_endpoint, m.step.to, reduce_flag(m.step.send_flag),
                                 COLLECTIVE_NUMBER(m.number));
        if (!m.step.receives) continue;
        host_endpoint_wait(&s->host_endpoint, reduce_flag(m.step.receive_flag), m.number);
        if (!m.step.adds) continue;
        if (!flushed)
            host_endpoint_flush(&s->host_endpoint); /* what the all-reduce before has sent at last is changed here */
        flushed = true;
        combine(s, &m);
    }
    ++s->completed;
}

/* ---- both ---- */

static void fill(struct reducer* s, const struct expected* e, float* block) {
    for (uint64_t at = 0; at < s->elements; at += BLOCK) {
        const uint64_t count = s->elements - at < BLOCK ? s->elements - at : BLOCK;
        expected_begin(e, s->rank, at, block, count);
        rdma_buffer_write(s->backend.node, &s->backend.payload, 4 * at, block, 4 * count);
    }
}

static bool is_correct(struct reducer* s, const struct expected* e, float* block) {
    const unsigned groups = backend_is_in_kernel(&s->backend) ? s->backend.groups : 1,
                   chunks = collective_chunks(s->o->algorithm, s->nodes);
    bool ok = true;
    for (unsigned g = 0; g < groups; ++g) {
        const uint64_t first = collective_chunk_begin(s->elements, groups, g),
                       elements = collective_chunk_begin(s->elements, groups, g + 1) - first;
        for (unsigned p = 0; p < chunks; ++p)
            for (uint64_t at = collective_chunk_begin(elements, chunks, p),
                          end = collective_chunk_begin(elements, chunks, p + 1);
                 at < end; at += BLOCK) {
                const uint64_t count = end - at < BLOCK ? end - at : BLOCK;
                rdma_buffer_read(s->backend.node, block, &s->backend.payload, 4 * (first + at), 4 * count);
                ok = expected_is(e, p, first + at, block, count) && ok;
            }
    }
    return ok;
}

/* Whether every work-group came to its end; prints what they measured. */
static bool check_groups(struct reducer* s) {
    uint64_t barriers = 0, sums = 0;
    bool all = true;
    for (unsigned g = 0; g < s->backend.groups; ++g) {
        struct network_reduce_result group;
        rdma_buffer_read(s->backend.node, &group, &s->results, g * sizeof group, sizeof group);
        if (group.failed)
            console_printf("work-group %u: a wait timed out, or a request failed, in round %u\n", g, group.rounds + 1);
        all = all && !group.failed;
        barriers += group.barriers;
        sums += group.sums;
    }
    if (!s->rank) {
        result_begin("reduce_kernel");
        result_text("backend", backend_name(s->backend.kind));
        result_u64("nodes", s->nodes);
        result_u64("groups", s->backend.groups);
        result_u64("barrier_time_ps", barriers * 1000 / REDUCE_BARRIERS / s->backend.groups);
        result_u64("round_time_ps", sums * 1000 / s->o->rounds / s->backend.groups);
        result_end();
    }
    return all;
}

/* \returns whether the network did what it was asked for; of kernels that talk, all_came() says that */
static bool run_rounds(struct reducer* s, uint32_t rounds) {
    if (s->backend.kind == BACKEND_GDS) return reduce_stream(s, rounds);
    if (backend_is_in_kernel(&s->backend))
        reduce_in_kernel(s, rounds);
    else
        for (uint32_t i = 0; i < rounds; ++i) reduce_on_host(s);
    return true;
}

const char* const reduce_algorithm_names[] = {"ring", "tree", NULL};

static void report(const struct reducer* s, uint64_t cycles) {
    if (s->rank) return;
    result_begin("reduce");
    result_text("backend", backend_name(s->backend.kind));
    result_text("algorithm", reduce_algorithm_names[s->o->algorithm]);
    result_u64("nodes", s->nodes);
    result_u64("bytes", s->o->bytes);
    result_u64("rounds", s->o->rounds);
    result_u64("time_ps", clock_picoseconds(cycles));
    result_end();
}

static void open(struct reducer* s) {
    s->elements = s->o->bytes / 4;
    s->pitch = (s->o->bytes + HCA_PAGE - 1) & ~(uint64_t)(HCA_PAGE - 1);
    s->staging = s->pitch;
    s->flags = s->staging + collective_staging_slots(s->o->algorithm, s->nodes) * s->pitch;
    s->backend.payload_bytes = s->flags + s->backend.groups * sizeof(struct collective_flags);
    s->backend.peers = collective_peers(s->o->algorithm, s->rank, s->nodes);
    for (unsigned distance = 1; distance < s->nodes; distance *= 2) /* of barriers */
        s->backend.peers |= 1u << (s->rank + distance) % s->nodes | 1u << (s->rank + s->nodes - distance) % s->nodes;
    backend_open(&s->backend);
    if (backend_is_host_driven(&s->backend)) host_endpoint_init(&s->host_endpoint, &s->backend);
    if (s->backend.kind == BACKEND_HDN) reduce_combine_kernel(s);
    if (s->backend.kind == BACKEND_GDS) reduce_stream_begin(s);
    if (backend_is_in_kernel(&s->backend)) reduce_kernel(s);
    s->results = rdma_buffer_allocate(s->backend.node, s->backend.groups * sizeof(struct network_reduce_result), true);
}

bool reduce_run(const struct backend* base, struct gpu_queue_handle* queue, const struct reduce_options* o) {
    static struct expected expected;
    struct reducer* s = heap_allocate(sizeof *s);
    float* block = heap_allocate(4 * BLOCK);
    if (!s || !block) panic("reduce: out of memory");
    memset(s, 0, sizeof *s); /* no copy on the stack, which is small */
    s->backend = *base;
    s->o = o;
    s->queue = queue;
    s->rank = base->bootstrap->comm.rank;
    s->nodes = base->bootstrap->comm.size;
    open(s);
    expected_make(&expected, o->algorithm, s->nodes, (unsigned)o->rounds);
    fill(s, &expected, block);
    clock_start();
    backend_barrier(&s->backend);
    if (!s->rank) region_begin("reduce");
    const uint64_t begin = clock_cycles();
    bool ok = run_rounds(s, (uint32_t)o->rounds);
    report(s, clock_cycles() - begin);
    if (!s->rank) region_end();
    if (backend_is_host_driven(&s->backend)) ok = host_endpoint_finish(&s->host_endpoint);
    if (backend_is_in_kernel(&s->backend)) ok = check_groups(s);
    backend_close(&s->backend);
    if (ok && !is_correct(s, &expected, block)) {
        console_printf("what is there is not the sum\n");
        ok = false;
    }
    console_printf("reduce     %s\n", ok ? "ok" : "FAILED");
    heap_free(block);
    return ok;
}
