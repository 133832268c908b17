/* SPDX-License-Identifier: Apache-2.0 */
#include "host/compnet/reduce.h"

#include "gpu/kernels/network.h"
#include "host/compnet/expected.h"
#include "host/compnet/talker.h"
#include "host/console.h"
#include "host/csr.h"
#include "host/harts.h"
#include "host/heap.h"
#include "host/machine.h"
#include "host/rdma/measure.h"
#include "host/region.h"
#include "host/timer.h"

enum { PATIENCE_NS = 500000000, PIECE = 1 << 16 /* floats */ };

struct reducer {
    struct scheme scheme;
    const struct reduce_options* o;
    struct talker talker;
    struct gpu_queue_handle* queue;
    struct place results;
    unsigned rank, nodes;
    uint64_t elements, pitch, places, flags; /* flags: of work-groups */
    uint32_t moved;            /* all-reduces so far, of the host */
};

/* ---- what kernels do ---- */

static void launch(struct reducer* s, struct gpu_kernel kernel, const void* arguments, size_t bytes) {
    const struct gpu_grid grid = {.items = {REDUCE_GROUP * s->scheme.groups}, .group = {REDUCE_GROUP}};
    if (s->o->driver_us) timer_wait(s->o->driver_us);
    const unsigned fault = gpu_wait(s->queue, gpu_dispatch(s->queue, kernel, &grid, arguments, bytes));
    if (fault) panic("reduce: the kernel ended with fault %u", fault);
}

static struct gpu_kernel kernel_of(struct reducer* s) {
    return scheme_host_talks(&s->scheme) ? gpu_linked_kernel(s->scheme.node, "network_combine", "network_combine") : gpu_linked_kernel(s->scheme.node, "network_reduce", "network_reduce");
}

static void reduce_in_kernel(struct reducer* s, uint32_t rounds) {
    const struct network_reduce_arguments a = {.access = s->scheme.access.lanes, .results = s->results.lanes, .team = scheme_team(&s->scheme), .elements = s->elements,
                                               .places = s->places, .pitch = s->pitch, .flags = s->flags, .patience = PATIENCE_NS, .way = s->o->way, .rounds = rounds};
    launch(s, kernel_of(s), &a, sizeof a);
}

/* ---- what the host does ---- */

struct addition {
    float* to;
    const float* other;
    uint64_t elements, cores;
};

__attribute__((noinline)) static void add(const struct addition* a, uint64_t core) {
    for (uint64_t i = a->elements * core / a->cores; i < a->elements * (core + 1) / a->cores; ++i) a->to[i] = a->to[i] + a->other[i];
}
static void add_part(void* argument) {
    const struct addition* a = argument;
    if (hart_id() >= a->cores) return;
    csr_set(mstatus, MSTATUS_FLOATS);
    add(a, hart_id());
}

static void combine(struct reducer* s, uint64_t to, uint64_t other, uint64_t elements) {
    const struct place* p = &s->scheme.payload;
    if (!elements) return;
    if (s->scheme.kind == SCHEME_CPU) {
        struct addition a = {(float*)(p->memory.at + to), (const float*)(p->memory.at + other), elements, s->o->cores};
        harts_run(add_part, &a);
        return;
    }
    const struct network_combine_arguments a = {p->lanes + to, p->lanes + other, elements};
    launch(s, kernel_of(s), &a, sizeof a);
}

static void reduce_by_host(struct reducer* s) {
    const enum collective_way way = s->o->way;
    const unsigned steps = collective_steps(way, s->nodes), parts = collective_parts(way, s->nodes);
    for (unsigned i = 0; i < steps; ++i) {
        const struct collective_step m = collective_step(way, s->rank, s->nodes, i);
        const uint32_t number = s->moved * steps + i + 1;
        if (m.sends) {
            const uint64_t begin = collective_begin(s->elements, parts, m.send_part), end = collective_begin(s->elements, parts, m.send_part + 1u);
            if (end > begin) talker_put(&s->talker, m.to, 4 * begin, 4 * begin + (m.adds ? s->places + m.place * s->pitch : 0), (uint32_t)(4 * (end - begin)));
            talker_say(&s->talker, m.to, offsetof(struct collective_flags, arrived[0]) + 8 * m.send_flag, COLLECTIVE_NUMBER(number));
        }
        if (!m.takes) continue;
        talker_hear(&s->talker, offsetof(struct collective_flags, arrived[0]) + 8 * m.take_flag, number);
        const uint64_t begin = collective_begin(s->elements, parts, m.take_part), end = collective_begin(s->elements, parts, m.take_part + 1u);
        if (m.adds) combine(s, 4 * begin, s->places + m.place * s->pitch + 4 * begin, end - begin);
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
    const unsigned groups = scheme_host_talks(&s->scheme) ? 1 : s->scheme.groups, parts = collective_parts(s->o->way, s->nodes);
    bool right = true;
    for (unsigned g = 0; g < groups; ++g) {
        const uint64_t first = collective_begin(s->elements, groups, g), elements = collective_begin(s->elements, groups, g + 1) - first;
        for (unsigned p = 0; p < parts; ++p)
            for (uint64_t at = collective_begin(elements, parts, p), end = collective_begin(elements, parts, p + 1); at < end; at += PIECE) {
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
        if (group.failed) console_printf("work-group %u: nobody is heard, or a request failed, in round %u\n", g, group.rounds + 1);
        all = all && !group.failed;
        barriers += group.barriers;
        sums += group.sums;
    }
    if (!s->rank)
        console_printf("# inside %s %u nodes %u groups, barrier %lu ps, round %lu ps\n", scheme_name(s->scheme.kind), s->nodes, s->scheme.groups,
                       barriers * 1000 / REDUCE_BARRIERS / s->scheme.groups, sums * 1000 / s->o->rounds / s->scheme.groups);
    return all;
}

static void run_rounds(struct reducer* s, uint32_t rounds) {
    if (!scheme_host_talks(&s->scheme)) reduce_in_kernel(s, rounds);
    else
        for (uint32_t i = 0; i < rounds; ++i) reduce_by_host(s);
}

static void report(const struct reducer* s, uint64_t cycles) {
    if (!s->rank)
        console_printf("# reduce %s %s %u nodes %lu bytes %lu rounds %lu ps\n", scheme_name(s->scheme.kind), s->o->way == COLLECTIVE_RING ? "ring" : "tree", s->nodes,
                       s->o->bytes, s->o->rounds, clock_picoseconds(cycles));
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
    if (s->scheme.kind != SCHEME_CPU) kernel_of(s);
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
    run_rounds(s, (uint32_t)o->rounds);
    report(s, clock_cycles() - begin);
    if (!s->rank) region_end();
    bool right = scheme_host_talks(&s->scheme) ? talker_end(&s->talker) : all_came(s);
    scheme_close(&s->scheme);
    if (right && !is_right(s, &expected, piece)) {
        console_printf("what is there is not the sum\n");
        right = false;
    }
    console_printf("reduce     %s\n", right ? "ok" : "FAILED");
    heap_free(piece);
    return right;
}
