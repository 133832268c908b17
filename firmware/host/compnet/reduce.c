/* SPDX-License-Identifier: Apache-2.0 */
#include "host/compnet/reducer.h"

#include "host/compnet/expected.h"
#include "host/console.h"
#include "host/csr.h"
#include "host/harts.h"
#include "host/heap.h"
#include "host/machine.h"
#include "host/rdma/measure.h"
#include "host/region.h"
#include "host/timer.h"

enum { PIECE = 1 << 16 /* floats */ };

/* ---- what kernels do ---- */

struct gpu_grid reduce_grid(const struct reducer* s) {
    return (struct gpu_grid){.items = {REDUCE_GROUP * s->scheme.groups}, .group = {REDUCE_GROUP}};
}

static void launch(struct reducer* s, struct gpu_kernel kernel, const void* arguments, size_t bytes) {
    const struct gpu_grid grid = reduce_grid(s);
    if (s->o->driver_us) timer_wait(s->o->driver_us);
    const unsigned fault = gpu_wait(s->queue, gpu_dispatch(s->queue, kernel, &grid, arguments, bytes));
    if (fault) panic("reduce: the kernel ended with fault %u", fault);
}

static struct gpu_kernel reduce_kernel(const struct reducer* s) {
    return gpu_linked_kernel(s->scheme.node, "network_reduce", "network_reduce");
}
struct gpu_kernel reduce_combine_kernel(const struct reducer* s) {
    return gpu_linked_kernel(s->scheme.node, "network_combine", "network_combine");
}

static void reduce_in_kernel(struct reducer* s, uint32_t rounds) {
    const struct network_reduce_arguments a = {.access = s->scheme.access.lanes,
                                               .results = s->results.lanes,
                                               .team = scheme_team(&s->scheme),
                                               .elements = s->elements,
                                               .places = s->places,
                                               .pitch = s->pitch,
                                               .flags = s->flags,
                                               .patience = REDUCE_PATIENCE_NS,
                                               .way = s->o->way,
                                               .rounds = rounds};
    launch(s, reduce_kernel(s), &a, sizeof a);
}

/* ---- between kernels ---- */

struct reduce_move reduce_move(const struct reducer* s, uint32_t round, unsigned step) {
    const enum collective_way way = s->o->way;
    const unsigned parts = collective_parts(way, s->nodes);
    struct reduce_move m = {.step = collective_step(way, s->rank, s->nodes, step),
                            .number = round * collective_steps(way, s->nodes) + step + 1};
    const uint64_t place = s->places + m.step.place * s->pitch;
    m.sent = 4 * collective_begin(s->elements, parts, m.step.send_part);
    m.bytes_sent = 4 * collective_begin(s->elements, parts, m.step.send_part + 1u) - m.sent;
    m.arrives = m.sent + (m.step.adds ? place : 0);
    m.taken = 4 * collective_begin(s->elements, parts, m.step.take_part);
    m.bytes_taken = 4 * collective_begin(s->elements, parts, m.step.take_part + 1u) - m.taken;
    m.added = place + m.taken;
    return m;
}

struct network_combine_arguments reduce_combine_arguments(const struct reducer* s, const struct reduce_move* m) {
    const uint64_t at = s->scheme.payload.lanes;
    return (struct network_combine_arguments){at + m->taken, at + m->added, m->bytes_taken / 4};
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

static void combine(struct reducer* s, const struct reduce_move* m) {
    const uintptr_t at = s->scheme.payload.memory.at;
    if (!m->bytes_taken) return;
    if (s->scheme.kind == SCHEME_CPU) {
        struct addition a = {(float*)(at + m->taken), (const float*)(at + m->added), m->bytes_taken / 4, s->o->cores};
        harts_run(add_part, &a);
        return;
    }
    const struct network_combine_arguments a = reduce_combine_arguments(s, m);
    launch(s, reduce_combine_kernel(s), &a, sizeof a);
}

static void reduce_by_host(struct reducer* s) {
    bool settled = false;
    for (unsigned i = 0; i < collective_steps(s->o->way, s->nodes); ++i) {
        const struct reduce_move m = reduce_move(s, s->moved, i);
        if (m.step.sends && m.bytes_sent) talker_put(&s->talker, m.step.to, m.sent, m.arrives, (uint32_t)m.bytes_sent);
        if (m.step.sends) talker_say(&s->talker, m.step.to, reduce_flag(m.step.send_flag), COLLECTIVE_NUMBER(m.number));
        if (!m.step.takes) continue;
        talker_hear(&s->talker, reduce_flag(m.step.take_flag), m.number);
        if (!m.step.adds) continue;
        if (!settled) talker_settle(&s->talker); /* what the all-reduce before has sent at last is changed here */
        settled = true;
        combine(s, &m);
    }
    ++s->moved;
}

/* ---- both ---- */

static void fill(struct reducer* s, const struct expected* e, float* piece) {
    for (uint64_t at = 0; at < s->elements; at += PIECE) {
        const uint64_t count = s->elements - at < PIECE ? s->elements - at : PIECE;
        expected_begin(e, s->rank, at, piece, count);
        place_write(s->scheme.node, &s->scheme.payload, 4 * at, piece, 4 * count);
    }
}

static bool is_right(struct reducer* s, const struct expected* e, float* piece) {
    const unsigned groups = scheme_kernels_talk(&s->scheme) ? s->scheme.groups : 1,
                   parts = collective_parts(s->o->way, s->nodes);
    bool right = true;
    for (unsigned g = 0; g < groups; ++g) {
        const uint64_t first = collective_begin(s->elements, groups, g),
                       elements = collective_begin(s->elements, groups, g + 1) - first;
        for (unsigned p = 0; p < parts; ++p)
            for (uint64_t at = collective_begin(elements, parts, p), end = collective_begin(elements, parts, p + 1);
                 at < end; at += PIECE) {
                const uint64_t count = end - at < PIECE ? end - at : PIECE;
                place_read(s->scheme.node, piece, &s->scheme.payload, 4 * (first + at), 4 * count);
                right = expected_is(e, p, first + at, piece, count) && right;
            }
    }
    return right;
}

/* Whether every work-group came to its end; prints what they measured. */
static bool all_came(struct reducer* s) {
    uint64_t barriers = 0, sums = 0;
    bool all = true;
    for (unsigned g = 0; g < s->scheme.groups; ++g) {
        struct network_reduce_group group;
        place_read(s->scheme.node, &group, &s->results, g * sizeof group, sizeof group);
        if (group.failed)
            console_printf("work-group %u: nobody is heard, or a request failed, in round %u\n", g, group.rounds + 1);
        all = all && !group.failed;
        barriers += group.barriers;
        sums += group.sums;
    }
    if (!s->rank)
        console_printf("# inside %s %u nodes %u groups, barrier %lu ps, round %lu ps\n", scheme_name(s->scheme.kind),
                       s->nodes, s->scheme.groups, barriers * 1000 / REDUCE_BARRIERS / s->scheme.groups,
                       sums * 1000 / s->o->rounds / s->scheme.groups);
    return all;
}

/* \returns whether the network did what it was asked for; of kernels that talk, all_came() says that */
static bool run_rounds(struct reducer* s, uint32_t rounds) {
    if (s->scheme.kind == SCHEME_ASYNC) return reduce_stream(s, rounds);
    if (scheme_kernels_talk(&s->scheme))
        reduce_in_kernel(s, rounds);
    else
        for (uint32_t i = 0; i < rounds; ++i) reduce_by_host(s);
    return true;
}

static void report(const struct reducer* s, uint64_t cycles) {
    if (!s->rank)
        console_printf("# reduce %s %s %u nodes %lu bytes %lu rounds %lu ps\n", scheme_name(s->scheme.kind),
                       s->o->way == COLLECTIVE_RING ? "ring" : "tree", s->nodes, s->o->bytes, s->o->rounds,
                       clock_picoseconds(cycles));
}

static void open(struct reducer* s) {
    s->elements = s->o->bytes / 4;
    s->pitch = (s->o->bytes + HCA_PAGE - 1) & ~(uint64_t)(HCA_PAGE - 1);
    s->places = s->pitch;
    s->flags = s->places + collective_places(s->o->way, s->nodes) * s->pitch;
    s->scheme.payload_bytes = s->flags + s->scheme.groups * sizeof(struct collective_flags);
    s->scheme.peers = collective_peers(s->o->way, s->rank, s->nodes);
    for (unsigned distance = 1; distance < s->nodes; distance *= 2) /* of barriers */
        s->scheme.peers |= 1u << (s->rank + distance) % s->nodes | 1u << (s->rank + s->nodes - distance) % s->nodes;
    scheme_open(&s->scheme);
    if (scheme_host_talks(&s->scheme)) talker_begin(&s->talker, &s->scheme);
    if (s->scheme.kind == SCHEME_DRIVEN) reduce_combine_kernel(s);
    if (s->scheme.kind == SCHEME_ASYNC) reduce_stream_begin(s);
    if (scheme_kernels_talk(&s->scheme)) reduce_kernel(s);
    s->results = place_take(s->scheme.node, s->scheme.groups * sizeof(struct network_reduce_group), true);
}

bool reduce_run(const struct scheme* like, struct gpu_queue_handle* queue, const struct reduce_options* o) {
    static struct expected expected;
    struct reducer* s = heap_allocate(sizeof *s);
    float* piece = heap_allocate(4 * PIECE);
    if (!s || !piece) panic("reduce: out of memory");
    memset(s, 0, sizeof *s); /* no copy on the stack, which is small */
    s->scheme = *like;
    s->o = o;
    s->queue = queue;
    s->rank = like->party->index;
    s->nodes = like->party->count;
    open(s);
    expected_make(&expected, o->way, s->nodes, (unsigned)o->rounds);
    fill(s, &expected, piece);
    clock_start();
    scheme_meet(&s->scheme);
    if (!s->rank) region_begin("reduce");
    const uint64_t begin = clock_cycles();
    bool right = run_rounds(s, (uint32_t)o->rounds);
    report(s, clock_cycles() - begin);
    if (!s->rank) region_end();
    if (scheme_host_talks(&s->scheme)) right = talker_end(&s->talker);
    if (scheme_kernels_talk(&s->scheme)) right = all_came(s);
    scheme_close(&s->scheme);
    if (right && !is_right(s, &expected, piece)) {
        console_printf("what is there is not the sum\n");
        right = false;
    }
    console_printf("reduce     %s\n", right ? "ok" : "FAILED");
    heap_free(piece);
    return right;
}
