/* SPDX-License-Identifier: Apache-2.0 */
#include "host/compnet/scheme.h"

#include "host/heap.h"
#include "host/machine.h"
#include "host/mmio.h"
#include "host/timer.h"
#include "network/service.h"

enum { LOG_SENDS = SCHEME_LOG_SENDS, LOG_COMPLETIONS = 7, PITCH = 8192, TAKEN_WITHIN_US = 10000 };

const char* scheme_name(enum scheme_kind kind) {
    static const char* const names[] = {"processor", "host", "native", "driven", "cpu", "async"};
    return names[kind];
}

void scheme_meet(struct scheme* s) {
    for (unsigned i = 0; i < s->party->count; ++i)
        if (i != s->party->index) party_meet(s->party, i);
}

static struct network_team team_of(const struct scheme* s) {
    return (struct network_team){.rank = s->party->index, .nodes = s->party->count};
}

struct network_team scheme_team(const struct scheme* s) {
    struct network_team t = team_of(s);
    for (unsigned i = 0; i < t.nodes; ++i) t.memory[i] = i == t.rank ? s->payload.lanes : s->remote[i].payload;
    return t;
}

struct network_team scheme_control_team(const struct scheme* s) {
    struct network_team t = team_of(s);
    for (unsigned i = 0; i < t.nodes; ++i) t.memory[i] = i == t.rank ? s->control.lanes : s->remote[i].control;
    return t;
}

/* ---- what they are told ---- */

/* Queue pairs with every other node, for one who posts by himself: a thread or a work-group. */
static void make_pairs(struct scheme* s, struct network_peer* peers) {
    const bool lanes = s->kind == SCHEME_PROCESSOR || s->kind == SCHEME_NATIVE || s->kind == SCHEME_ASYNC;
    const bool in_gpu = s->queue_pairs == SCHEME_QUEUES_OWN ? lanes : s->queue_pairs == SCHEME_QUEUES_IN_GPU;
    const struct endpoint_shape shape = {
        .pairs = 1,
        .log_sends = LOG_SENDS,
        .log_receives = 1,
        .log_cq = LOG_COMPLETIONS,
        .lanes = lanes,
        .queues_in_gpu = in_gpu && s->kind != SCHEME_ASYNC, /* there the program writes them */
        .cqs_in_gpu = in_gpu,
        .records_in_gpu = in_gpu,
        .payload_in_gpu = false,
        .payload = HCA_PAGE};
    for (unsigned i = 0; i < s->party->count; ++i) {
        if (i == s->party->index || (s->peers && !(s->peers >> i & 1))) continue;
        struct endpoint* e = heap_allocate(sizeof *e);
        if (!e) panic("scheme: out of memory");
        endpoint_open(e, s->party, s->node, i, &shape);
        peers[i] = (struct network_peer){endpoint_pairs(e), endpoint_cqs(e), s->mr.key, s->remote[i].rkey};
    }
}

static void make_memory(struct scheme* s) {
    const uint64_t bytes = (s->payload_bytes + HCA_PAGE - 1) & ~(uint64_t)(HCA_PAGE - 1);
    s->payload = place_take(s->node, bytes + HCA_PAGE, s->kind != SCHEME_CPU);
    if (!place_register(&s->mr, &s->party->pd, &s->payload, VERBS_ALL_RIGHTS))
        panic("scheme: the payload cannot be registered");
    s->control = s->payload;
    s->control_mr = s->mr;
    s->control.lanes += bytes;
    s->control.memory.at += bytes;
    if (!scheme_host_talks(s)) return;
    s->control = place_take(s->node, HCA_PAGE, false);
    if (!place_register(&s->control_mr, &s->party->pd, &s->control, VERBS_ALL_RIGHTS))
        panic("scheme: flags cannot be registered");
}

static void share_memory(struct scheme* s) {
    const struct scheme_remote mine = {s->payload.lanes, s->control.lanes, s->mr.key, s->control_mr.key};
    for (unsigned i = 0; i < s->party->count; ++i)
        if (i != s->party->index) party_exchange(s->party, i, &mine, &s->remote[i], sizeof mine);
}

/* Queue g is thread g % threads' own: those of one thread lie together. */
static uint64_t offset_of(const struct scheme* s, unsigned group) {
    const unsigned each = (s->groups + s->threads - 1) / s->threads;
    return (uint64_t)(group % s->threads * each + group / s->threads) * PITCH;
}

static void tell_groups(struct scheme* s) {
    s->access = place_take(s->node, s->groups * sizeof(struct network_access), true);
    for (unsigned g = 0; g < s->groups; ++g) {
        struct network_access a = {.performer = s->kind == SCHEME_NATIVE ? NETWORK_NATIVE : NETWORK_SERVED,
                                   .peers = s->party->count,
                                   .log_entries = s->log_entries};
        if (s->kind == SCHEME_NATIVE)
            make_pairs(s, a.peer);
        else
            a.queue = s->queues.lanes + offset_of(s, g);
        place_write(s->node, &s->access, g * sizeof a, &a, sizeof a);
    }
}

/* ---- threads ---- */

static struct network_thread* host_threads[SCHEME_MOST_THREADS];
static volatile bool ending;

static void serve(void* argument) {
    struct network_thread* t = argument;
    while (!ending)
        if (!network_serve(t)) relax();
}

static uintptr_t processor_entry(const struct scheme* s, unsigned hart) {
    return s->node->gpu[0].registers + GPU_SRAM_WINDOW + GPU_SRAM_NETWORK + hart * sizeof(struct gpu_network);
}

static void set_processor(struct scheme* s, unsigned hart, uint32_t state) {
    const uintptr_t at = processor_entry(s, hart);
    mmio_write64(at + offsetof(struct gpu_network, duty), s->duties.lanes + hart * sizeof(struct network_duty));
    mmio_write64(at + offsetof(struct gpu_network, lines), gpu_physical(s->node, s->queues.lanes));
    mmio_write64(at + offsetof(struct gpu_network, lines_bytes), s->queues.memory.bytes);
    mmio_write32(at + offsetof(struct gpu_network, lock), s->lock);
    mmio_write32(at + offsetof(struct gpu_network, state), state);
    mmio_write32(s->node->gpu[0].registers + GPU_HOST_REQUEST, 1);
    for (unsigned waited = 0; mmio_read32(at + offsetof(struct gpu_network, taken)) != state; waited += 10) {
        if (waited > TAKEN_WITHIN_US) panic("scheme: hart %u of the command processor does not answer", hart);
        timer_wait(10);
    }
}

static void start_thread(struct scheme* s, unsigned thread) {
    if (s->kind == SCHEME_PROCESSOR) {
        set_processor(s, thread, GPU_QUEUE_ACTIVE);
        return;
    }
    struct network_thread* t = heap_allocate(sizeof *t);
    if (!t) panic("scheme: out of memory");
    memset(t, 0, sizeof *t);
    network_begin(t, (const struct network_duty*)s->duties.memory.at + thread, 0);
    host_threads[thread] = t;
    if (!hart_start(thread + 1, serve, t)) panic("scheme: hart %u of the host is missing", thread + 1);
}

static void start_threads(struct scheme* s) {
    const bool in_gpu = s->kind == SCHEME_PROCESSOR;
    const unsigned each = (s->groups + s->threads - 1) / s->threads;
    const uint64_t bytes = (uint64_t)s->threads * each * PITCH;
    const unsigned harts = in_gpu ? mmio_read32(s->node->gpu[0].registers + GPU_CP_HARTS) : machine.harts - 1;
    if (s->threads > harts)
        refuse("threads=%u: %u at most, harts %s", s->threads, harts,
               in_gpu ? "of the command processor" : "of the host besides the one that runs the program");
    s->queues = place_take(s->node, bytes, in_gpu);
    s->duties = place_take(s->node, s->threads * sizeof(struct network_duty), in_gpu);
    ending = false;
    for (unsigned i = 0; i < s->threads; ++i) {
        const uint64_t first = (in_gpu ? s->queues.lanes : s->queues.memory.at) + (uint64_t)i * each * PITCH;
        struct network_duty duty = {.queues = (s->groups - i + s->threads - 1) / s->threads,
                                    .log_entries = s->log_entries,
                                    .peers = s->party->count,
                                    .first_queue = first,
                                    .pitch = PITCH};
        make_pairs(s, duty.peer);
        place_write(s->node, &s->duties, i * sizeof duty, &duty, sizeof duty);
        start_thread(s, i);
    }
}

void scheme_open(struct scheme* s) {
    make_memory(s);
    share_memory(s);
    if (s->kind == SCHEME_PROCESSOR || s->kind == SCHEME_HOST) start_threads(s);
    if (scheme_kernels_talk(s))
        tell_groups(s);
    else
        make_pairs(s, s->peer);
    scheme_meet(s);
}

void scheme_close(struct scheme* s) {
    scheme_meet(s);
    ending = true;
    if (mmio_read32(s->node->gpu[0].registers + GPU_CP_STATUS) == GPU_FIRMWARE_CRASHED)
        return; /* who crashed does not answer */
    for (unsigned i = 0; s->kind == SCHEME_PROCESSOR && i < s->threads; ++i) set_processor(s, i, GPU_QUEUE_FREE);
    for (unsigned i = 0; s->kind == SCHEME_HOST && i < s->threads; ++i) hart_join(i + 1);
}
