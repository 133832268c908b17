/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: commands in order, over a queue of the GPU. */
#include "drivers/gpu/shared.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "runtime/commands.h"

enum {
    PACKETS = 64,
    MAX_IN_FLIGHT = PACKETS / 2, /* each may need a packet more, which drops stale translations */
    FILL_BYTES = 64 << 10
};

/* ---- events ---- */

void compute_hold(struct compute_event* e) { ++e->holders; }

void compute_release(struct compute_event* e) {
    if (e && --e->holders == 0) heap_free(e);
}

/* ---- queues of streams ---- */

/* Scratch for all of the GPU, if there is space; a queue with little holds fewer wavefronts. */
static bool choose_scratch(struct gpu* g, unsigned* flags) {
    const uint64_t unit = gpu_scratch_bytes(g), others = UINT64_C(1) << 20;
    *flags = 0;
    if (gpu_free_bytes(g) / 4 > unit * g->compute_units &&
        gpu_has_space(g, unit * g->compute_units + others, GPU_LARGE_PAGE))
        return true;
    *flags = GPU_SMALL_SCRATCH;
    return gpu_has_space(g, unit + others, GPU_LARGE_PAGE);
}

struct compute_stream* compute_open(struct compute_device* d, unsigned priority) {
    unsigned flags;
    if (!gpu_shared_take_queue(d->gpu) || !choose_scratch(d->gpu, &flags)) return NULL;
    struct compute_stream* s = heap_allocate(sizeof *s);
    if (!s) return NULL;
    memset(s, 0, sizeof *s);
    s->device = d;
    gpu_create_queue(&s->queue, d->node, d->index, PACKETS, flags, priority);
    s->next_stream = d->streams;
    return d->streams = s;
}

void compute_close(struct compute_stream* s) {
    compute_wait_stream(s);
    struct compute_stream** at = &s->device->streams;
    while (*at != s) at = &(*at)->next_stream;
    *at = s->next_stream;
    gpu_destroy_queue(&s->queue);
    compute_release(s->tail);
    heap_free(s);
}

/* ---- what commands do ---- */

static void submit(struct compute_command* c) {
    struct compute_stream* s = c->stream;
    c->event->submitted = true;
    c->event->submitted_ns = compute_now_ns();
    if (c->kind == COMPUTE_KERNEL) {
        c->packet = gpu_dispatch(&s->queue, c->kernel, &c->grid, c->arguments, c->argument_bytes);
    } else {
        const uint64_t packet[8] = {AQL_HEADER_BARRIER};
        c->packet = gpu_submit(&s->queue, packet, AQL_TYPE_BARRIER_AND);
    }
    c->notifies = s->queue.notifies;
    ++s->in_flight;
}

static unsigned fill(const struct compute_command* c) {
    static uint8_t page[FILL_BYTES] __attribute__((aligned(GPU_PAGE)));
    const uint64_t used = c->bytes < FILL_BYTES ? c->bytes : FILL_BYTES;
    for (uint64_t at = 0; at < used; ++at) page[at] = c->pattern[at & (c->pattern_bytes - 1)];
    unsigned fault = 0;
    for (uint64_t at = 0, part; at < c->bytes && !fault; at += part) {
        part = c->bytes - at < FILL_BYTES ? c->bytes - at : FILL_BYTES;
        fault = gpu_copy_to(c->to_memory->device->node, c->to + at, page, part);
    }
    return fault;
}

/* Between GPUs that share no address space, by way of the host. */
static unsigned copy_between(struct gpu_node* to_node, struct gpu_node* from_node, const struct compute_command* c) {
    static uint8_t page[FILL_BYTES] __attribute__((aligned(GPU_PAGE)));
    unsigned fault = 0;
    for (uint64_t at = 0, part; at < c->bytes && !fault; at += part) {
        part = c->bytes - at < FILL_BYTES ? c->bytes - at : FILL_BYTES;
        fault = gpu_copy_from(from_node, page, c->from + at, part);
        if (!fault) fault = gpu_copy_to(to_node, c->to + at, page, part);
    }
    return fault;
}

static unsigned transfer(const struct compute_command* c) {
    struct gpu_node *to = c->to_memory ? c->to_memory->device->node : NULL,
                    *from = c->from_memory ? c->from_memory->device->node : NULL;
    switch (c->kind) {
        case COMPUTE_WRITE: return gpu_copy_to(to, c->to, (const void*)c->from, c->bytes);
        case COMPUTE_READ: return gpu_copy_from(from, (void*)c->to, c->from, c->bytes);
        case COMPUTE_CALL: return 0; /* as it ends */
        case COMPUTE_COPY: return to == from ? gpu_copy(to, c->to, c->from, c->bytes) : copy_between(to, from, c);
        default: return fill(c);
    }
}

/* ---- progress ---- */

static void end(struct compute_command* c, unsigned fault) {
    struct compute_stream* s = c->stream;
    c->event->fault = fault;
    c->event->ended = true;
    if (fault && !s->fault) s->fault = fault;
    s->first = c->next;
    if (s->next == c) s->next = c->next;
    if (!s->first) s->last = NULL;
    for (unsigned i = 0; i < c->after_count; ++i) compute_release(c->after[i]);
    compute_release(c->event);
    if (c->kind == COMPUTE_CALL) c->function(c->context, s->fault);
    heap_free(c);
}

void compute_fail(struct compute_stream* s, unsigned fault) {
    fault = gpu_shared_fault(s->device->gpu, fault);
    if (gpu_shared_was_reset(s->device->gpu))
        console_printf("gpu%u was reset: this program cannot use it any more\n", s->device->index);
    else
        console_printf("gpu%u: a kernel ended with '%s'\n", s->device->index, gpu_fault_name(fault));
    gpu_print_faults(s->device->node, s->device->gpu);
    const uint64_t now = compute_now_ns();
    for (bool is_first = true; s->first; is_first = false) {
        s->first->event->end_ns = now;
        end(s->first, is_first ? fault : GPU_FAULT_ABORTED);
    }
    s->in_flight = 0;
    if (!gpu_shared_was_reset(s->device->gpu) && !gpu_reset_queue(&s->queue))
        console_printf("gpu%u: a queue cannot be reset\n", s->device->index);
}

static bool is_packet(const struct compute_command* c) { return c->kind == COMPUTE_KERNEL || c->kind == COMPUTE_MARK; }

static void retire(struct compute_stream* s) {
    while (s->first != s->next) {
        const volatile struct aql_signal* signal = gpu_signal(&s->queue, s->first->packet);
        const int64_t value = signal->value;
        if (value > 0) return;
        __asm__ volatile("fence r, rw" ::: "memory");
        if (value < 0) return compute_fail(s, (unsigned)-value);
        s->first->event->start_ns = signal->start_ns;
        s->first->event->end_ns = signal->end_ns;
        --s->in_flight;
        end(s->first, 0);
    }
}

/* Whether all that a command waits for has ended; `fault` of what has failed. */
static bool may_begin(const struct compute_command* c, unsigned* fault) {
    *fault = 0;
    for (unsigned i = 0; i < c->after_count; ++i) {
        if (!c->after[i]->ended) return false;
        if (c->after[i]->fault && c->strict) *fault = GPU_FAULT_DEPENDENCY;
    }
    return true;
}

static bool advance(struct compute_stream* s) {
    retire(s);
    bool moved = false;
    for (unsigned fault; s->next && may_begin(s->next, &fault); moved = true) {
        struct compute_command* c = s->next;
        if (fault || !is_packet(c)) {
            if (c != s->first) return moved; /* its time has not come */
            c->event->submitted = true;
            c->event->submitted_ns = c->event->start_ns = compute_now_ns();
            if (!fault) fault = transfer(c);
            c->event->end_ns = compute_now_ns();
            end(c, fault);
        } else {
            if (s->in_flight == MAX_IN_FLIGHT) return moved;
            s->next = c->next;
            submit(c);
        }
        retire(s);
    }
    return moved;
}

void compute_progress(void) {
    for (bool moved = true; moved;) {
        moved = false;
        for (unsigned i = 0; i < compute_device_count(); ++i)
            for (struct compute_stream* s = compute_device(i)->streams; s; s = s->next_stream) moved |= advance(s);
    }
}

struct compute_event* compute_add(struct compute_command* c, struct compute_after after) {
    struct compute_stream* s = c->stream;
    c->event = heap_allocate(sizeof *c->event);
    if (!c->event) {
        heap_free(c);
        return NULL;
    }
    *c->event = (struct compute_event){.holders = 3, .queued_ns = compute_now_ns()};
    compute_release(s->tail);
    s->tail = c->event; /* one holder; the command and the caller are the others */
    c->after_count = after.count;
    c->strict = after.strict;
    for (unsigned i = 0; i < after.count; ++i) compute_hold(c->after[i] = after.events[i]);
    *(s->first ? &s->last->next : &s->first) = c;
    s->last = c;
    if (!s->next) s->next = c;
    compute_progress();
    return c->event;
}

bool compute_idle(struct compute_stream* s) {
    compute_progress();
    return !s->first;
}

unsigned compute_take_fault(struct compute_stream* s) {
    const unsigned fault = s->fault;
    s->fault = 0;
    return fault;
}

unsigned compute_take_device_fault(struct compute_device* d) {
    unsigned fault = 0;
    for (struct compute_stream* s = d->streams; s; s = s->next_stream) {
        const unsigned own = compute_take_fault(s);
        if (own && (!fault || fault == GPU_FAULT_ABORTED)) fault = own;
    }
    return fault;
}
