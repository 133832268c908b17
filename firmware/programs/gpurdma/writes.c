/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/gpurdma/writes.h"

#include "drivers/bootstrap/measure.h"
#include "gpu/kernels/rdma_writer.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/pattern.h"
#include "lib/region.h"
#include "lib/result.h"
#include "programs/gpurdma/library_posts.h"

enum {
    AREA = 2 << 20,
    MAX_SLOTS = 1024,
    GUARD = 4096,
    UNTOUCHED = 0xa5,
    MAX_MESSAGE_BYTES = 1 << 20,
    MAX_ENTRIES = 1 << 14,
    SEED = 40
};

static bool is_power(uint64_t n) { return n && !(n & (n - 1)); }

static unsigned log2_up(uint64_t n) {
    unsigned log = 0;
    while ((UINT64_C(1) << log) < n) ++log;
    return log;
}

void writes_check(const struct writes* w) {
    const bool inline_data = w->flags & RDMA_INLINE_DATA;
    if (w->size > MAX_MESSAGE_BYTES) usage_error("size=%lu: 1 to %u bytes", w->size, MAX_MESSAGE_BYTES);
    if (inline_data && w->size > RDMA_MAX_INLINE - 4)
        usage_error("size=%lu: with inline=1 up to %u", w->size, RDMA_MAX_INLINE - 4);
    if (inline_data && w->flags & (RDMA_READS | RDMA_REUSE)) usage_error("inline=1: not with reads or reuse");
    if (w->batch > RDMA_MAX_WQES_PER_DOORBELL) usage_error("batch=%lu: 1 to %u", w->batch, RDMA_MAX_WQES_PER_DOORBELL);
    if (!is_power(w->signal_every)) usage_error("signal=%lu: a power of two", w->signal_every);
    if (w->window < w->batch || w->window < w->signal_every || w->window > MAX_ENTRIES)
        usage_error("window=%lu: no less than batch=%lu and signal=%lu, up to %u", w->window, w->batch, w->signal_every,
                    MAX_ENTRIES);
    if (w->messages % w->signal_every)
        usage_error("messages=%lu: a multiple of signal=%lu", w->messages, w->signal_every);
    if (w->lanes * w->poster_groups > 1024)
        usage_error("poster_groups=%lu: with lanes=%lu no more than %lu, since a group has up to 1024 work-items",
                    w->poster_groups, w->lanes, 1024 / w->lanes);
    if ((w->lanes > 1 || w->hart) && w->poster_groups > RDMA_MAX_POSTER_GROUPS)
        usage_error("poster_groups=%lu: up to %u, of one lane each more", w->poster_groups, RDMA_MAX_POSTER_GROUPS);
    if (w->hart && (w->groups != 1 || w->lanes != 1)) usage_error("hart=1: with groups=1 and lanes=1");
    if (w->library && !w->hart) usage_error("library=1: with hart=1");
    if (w->library && w->flags & (RDMA_REUSE | RDMA_TIMED)) usage_error("library=1: not with reuse or timed");
}

/* The geometry of the payload, the same on both nodes. */
struct slots {
    uint64_t pitch, slots, poster_groups, bytes;
};
static struct slots slots_of(const struct writes* w) {
    struct slots s = {.pitch = (w->size + 7) & ~UINT64_C(7), .poster_groups = w->groups * w->poster_groups, .slots = 1};
    while (2 * s.slots <= MAX_SLOTS && s.slots < w->messages && 2 * s.slots * s.pitch * s.poster_groups <= AREA)
        s.slots *= 2;
    s.bytes = s.poster_groups * s.slots * s.pitch;
    return s;
}

/* What has to be in a slot's first `size` bytes; the rest, and what lies behind all slots, stays UNTOUCHED. */
static bool is_correct(const struct writes* w, const struct slots* s, const uint8_t* at) {
    const uint64_t untouched = UINT64_C(0x0101010101010101) * UNTOUCHED, rest = w->size % 8,
                   used = s->poster_groups * (w->messages < s->slots ? w->messages : s->slots);
    uint64_t difference = 0;
    if (rest == 0 && used == s->poster_groups * s->slots) {
        difference = !pattern_check(at, s->bytes, SEED);
    } else {
        for (uint64_t i = 0; i < s->bytes / 8; ++i) {
            const uint64_t slot = i * 8 / s->pitch, last = (i + 1) * 8 % s->pitch == 0;
            const uint64_t mask = slot % s->slots >= w->messages ? 0
                                  : last && rest                 ? (UINT64_C(1) << 8 * rest) - 1
                                                                 : ~UINT64_C(0);
            difference |= ((const uint64_t*)at)[i] ^ ((pattern_word(SEED, i) & mask) | (untouched & ~mask));
        }
    }
    for (uint64_t i = 0; i < GUARD / 8; ++i) difference |= ((const uint64_t*)(at + s->bytes))[i] ^ untouched;
    return !difference;
}

struct outcome {
    uint64_t cycles, writing, ringing, polling, polls, completed,
        clock; /* times: of the poster group that took longest */
    unsigned syndrome, failed;
    unsigned fault;
};

static struct gpu_kernel kernel(const struct writes* w) {
    static const char* const files[] = {
        "rdma_writes_unfenced",  "rdma_writes_gpu_fences",    "rdma_writes",
        "rdma_writes_one_fence", "rdma_writes_one_gpu_fence", "rdma_writes_no_receive_fence"};
    return gpu_linked_kernel(w->node, files[w->fence], "rdma_writes");
}

/* One hart for all poster groups: each gets its turn when its queue has space. */
static void post_by_hart(const struct rdma_writes_arguments* a, unsigned poster_groups) {
    static struct rdma_writer writers[RDMA_MAX_POSTER_GROUPS];
    uint32_t posted[RDMA_MAX_POSTER_GROUPS] = {0};
    bool busy = true;
    for (unsigned t = 0; t < poster_groups; ++t) {
        rdma_writer_begin(&writers[t], a, t, 0, NULL);
        rdma_prebuild_wqes(&writers[t]);
    }
    const uint64_t begin = clock_cycles();
    while (busy) {
        busy = false;
        for (unsigned t = 0; t < poster_groups; ++t) {
            struct rdma_writer* w = &writers[t];
            const uint32_t part = rdma_batch_size(w, posted[t]);
            if (!w->syndrome && part && posted[t] + part - w->completed <= a->window) {
                rdma_build_batch(w, w->head, posted[t], part);
                rdma_ring_batch(w, w->head, posted[t], part);
                posted[t] += part;
            } else if (!w->syndrome) {
                rdma_poll_completions(w, w->head);
            }
            busy = busy || (!w->syndrome && w->completed < a->messages);
        }
    }
    const uint64_t cycles = clock_cycles() - begin;
    for (unsigned t = 0; t < poster_groups; ++t) {
        writers[t].head += posted[t];
        rdma_report(&writers[t], cycles);
    }
}

static struct outcome run_once(const struct writes* w, struct endpoint* e, const struct rdma_writes_arguments* a,
                               const struct rdma_buffer* poster_groups, struct rdma_poster_group* results) {
    struct outcome o = {.clock = w->hart ? 0 : w->node->gpu[0].clock};
    const uint64_t count = w->groups * w->poster_groups;
    if (w->library) {
        post_by_library(e, a);
    } else if (w->hart && count > 1) {
        post_by_hart(a, (unsigned)count);
    } else if (w->hart) {
        struct rdma_writer writer;
        rdma_writer_begin(&writer, a, 0, 0, NULL);
        rdma_write_all(&writer);
    } else {
        const struct gpu_grid grid = {.items = {(uint32_t)(w->groups * w->poster_groups * w->lanes)},
                                      .group = {(uint16_t)(w->poster_groups * w->lanes)}};
        o.fault = gpu_wait(w->queue, gpu_dispatch(w->queue, kernel(w), &grid, a, sizeof *a));
        if (o.fault) gpu_print_faults(w->node, &w->node->gpu[0]);
    }
    rdma_buffer_read(w->node, results, poster_groups, 0, count * sizeof *results);
    for (uint64_t i = 0; i < count; ++i) {
        const struct rdma_poster_group* t = &results[i];
        if (t->syndrome && !o.syndrome) o.syndrome = t->syndrome, o.failed = t->failed;
        o.completed += t->completed;
        o.polls += t->polls;
        if (t->cycles <= o.cycles) continue;
        o.cycles = t->cycles, o.writing = t->writing, o.ringing = t->ringing, o.polling = t->polling;
    }
    return o;
}

static uint64_t picoseconds(const struct outcome* o, uint64_t cycles) {
    return o->clock ? cycles * 1000000 / (o->clock / 1000000) : clock_picoseconds(cycles);
}

static void print(const struct writes* w, const struct outcome* o) {
    const uint64_t messages = w->groups * w->poster_groups * w->messages;
    result_begin("writes");
    result_u64("messages", messages);
    result_u64("bytes", w->size);
    result_u64("time_ps", picoseconds(o, o->cycles));
    result_u64("writing_time_ps", picoseconds(o, o->writing));
    result_u64("ringing_time_ps", picoseconds(o, o->ringing));
    result_u64("polling_time_ps", picoseconds(o, o->polling));
    result_u64("polls", o->polls);
    result_end();
}

static bool post_all(const struct writes* w, struct endpoint* e, const struct slots* s) {
    const uint64_t count = s->poster_groups;
    struct rdma_poster_group* results = heap_allocate(count * sizeof *results);
    if (!results) panic("no memory for results");
    const struct rdma_buffer poster_groups = rdma_buffer_allocate(w->node, count * sizeof *results, !w->hart);
    struct rdma_writes_arguments a = {.qps = endpoint_rdma_qps(e),
                                      .cqs = endpoint_rdma_cqs(e),
                                      .poster_groups = endpoint_address(e, &poster_groups),
                                      .local = e->payload.lanes,
                                      .remote = e->remote.address,
                                      .lkey = e->mr.key,
                                      .rkey = e->remote.rkey,
                                      .bytes = (uint32_t)w->size,
                                      .pitch = (uint32_t)s->pitch,
                                      .slots = (uint32_t)s->slots,
                                      .messages = (uint32_t)w->messages,
                                      .lanes = (uint32_t)w->lanes,
                                      .batch = (uint32_t)w->batch,
                                      .signal = (uint32_t)w->signal_every,
                                      .window = (uint32_t)w->window,
                                      .flags = (uint32_t)w->flags};
    bool ok = true;
    if (!w->hart) kernel(w); /* loaded before time counts */
    for (uint64_t run = 0; run < w->runs; ++run) {
        const bool last = run + 1 == w->runs, revoked = last && w->revoked;
        if (revoked) bootstrap_barrier_with(w->bootstrap, w->with); /* only now is nothing under way */
        bootstrap_barrier_with(w->bootstrap, w->with);
        if (last) region_begin("writes");
        const struct outcome o = run_once(w, e, &a, &poster_groups, results);
        if (last) region_end();
        const bool well = !o.fault && (revoked ? o.syndrome == HCA_REMOTE_ACCESS && o.completed == 0
                                               : !o.syndrome && o.completed == count * w->messages);
        if (!revoked) print(w, &o);
        if (!well || revoked)
            console_printf("%lu of %lu messages ended, message %u: %s\n", o.completed, count * w->messages, o.failed,
                           verbs_syndrome_name(o.syndrome));
        ok = ok && well;
    }
    heap_free(results);
    return ok;
}

bool writes_run(const struct writes* w) {
    static struct endpoint e;
    const struct slots s = slots_of(w);
    const bool active = w->bootstrap->comm.rank < w->with, reads = w->flags & RDMA_READS, source = active != reads;
    const unsigned log_sq_size = log2_up(w->window) ? log2_up(w->window) : 1;
    const struct endpoint_shape shape = {.qps = (unsigned)s.poster_groups,
                                         .log_sq_size = log_sq_size,
                                         .log_rq_size = 1,
                                         .log_cq = log_sq_size + 1,
                                         .lanes = !w->hart,
                                         .queues_in_gpu = w->queues_in_gpu,
                                         .cqs_in_gpu = w->cqs_in_gpu,
                                         .records_in_gpu = w->records_in_gpu,
                                         .payload_in_gpu = source ? w->payload_in_gpu : w->target_in_gpu,
                                         .payload = s.bytes + GUARD};
    uint8_t* bytes = heap_allocate_aligned(shape.payload, GPU_PAGE);
    if (!bytes) panic("no memory for the payload");
    endpoint_open(&e, w->bootstrap, w->node, w->with, &shape);
    if (source)
        pattern_write(bytes, s.bytes, SEED);
    else
        memset(bytes, UNTOUCHED, shape.payload);
    rdma_buffer_write(w->node, &e.payload, 0, bytes, shape.payload);
    bootstrap_barrier_with(w->bootstrap, w->with);
    bool ok = true;
    if (active) ok = post_all(w, &e, &s);
    for (uint64_t run = 0; !active && run < w->runs; ++run) {
        bootstrap_wait_for(w->bootstrap, w->with);
        if (w->revoked && run + 1 == w->runs) {
            bootstrap_barrier_with(w->bootstrap, w->with);
            verbs_unregister(&e.mr);
        }
        bootstrap_barrier_with(w->bootstrap, w->with);
    }
    if (!active) bootstrap_wait_for(w->bootstrap, w->with);
    bootstrap_barrier_with(w->bootstrap, w->with);
    if (!source) {
        rdma_buffer_read(w->node, bytes, &e.payload, 0, shape.payload);
        if (!is_correct(w, &s, bytes)) {
            console_printf("what has arrived is not what was sent\n");
            ok = false;
        }
    }
    heap_free(bytes);
    console_printf("writes     %s\n", ok ? "ok" : "FAILED");
    return ok;
}
