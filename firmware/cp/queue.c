/* SPDX-License-Identifier: Apache-2.0 */
#include "cp/queue.h"

#include "abi/aql.h"
#include "cp/access.h"
#include "cp/launch.h"
#include "cp/lock.h"
#include "cp/packet.h"
#include "cp/registers.h"
#include "cp/report.h"
#include "cp/service.h"

static struct queue queues[GPU_QUEUES];
static uint64_t owned[MAX_HARTS];       /* by hart, as of the host's last request: queues whose doorbells it hears */
static unsigned last_served[MAX_HARTS]; /* the queue that was served last */
static uint64_t ready[MAX_HARTS]
                     [PRIORITIES]; /* bit n: the packet at `next` of queue n, which is active, may be ready */

static void set_ready(const struct queue* q, bool is) {
    uint64_t* mask = &ready[q->hart][q->priority];
    *mask = is ? *mask | 1ull << q->index : *mask & ~(1ull << q->index);
}

/* Number of the lowest bit that is set; the harts have no instruction for it. */
static unsigned lowest(uint64_t mask) {
    unsigned n = 0;
    for (unsigned step = 32; step; step >>= 1)
        if (!(mask & ((1ull << step) - 1))) {
            mask >>= step;
            n += step;
        }
    return n;
}

static volatile struct gpu_queue* shared(const struct queue* q) {
    return SRAM(struct gpu_queue, GPU_SRAM_QUEUES) + q->index;
}

static void select_space(const struct queue* q) { virtual_select(q->hart, q->address_space); }

static void stop(struct queue* q, uint32_t fault, uint64_t from) {
    q->active = false;
    set_ready(q, false);
    shared(q)->error = fault;
    shared(q)->stopped_at = from;
    release();
    shared(q)->acknowledged = GPU_QUEUE_ERROR;
}

/* The host hears of it in the queue's entry and in the log. What came before the packet may still complete. */
static void fail(struct queue* q, uint64_t packet, const struct failure* failure) {
    stop(q, failure->fault, packet < q->next ? packet : q->next);
    struct gpu_fault_record r = {0};
    r.fault = failure->fault;
    r.queue = q->index;
    r.packet = packet;
    r.address = failure->address;
    report(&r);
}

static void activate(struct queue* q) {
    volatile struct gpu_queue* from = shared(q);
    q->packets = from->packets;
    q->address_space = from->address_space % GPU_ADDRESS_SPACES;
    q->priority = from->priority < PRIORITIES ? from->priority : PRIORITIES - 1;
    q->ring = from->ring;
    q->read_index_at = from->read_index;
    q->scratch = from->scratch;
    q->scratch_bytes = from->scratch_bytes;
    q->next = q->stalled_since = 0;
    q->active = true;
    set_ready(q, true); /* a doorbell may have come before the host's request was read */
    from->error = GPU_FAULT_NONE;
    from->acknowledged = GPU_QUEUE_ACTIVE;
    if (q->packets && !(q->packets & (q->packets - 1)) && q->ring % 64 == 0) return;
    fail(q, 0, &(struct failure){GPU_FAULT_PACKET, q->ring});
}

/* Kernels of a queue that goes are aborted: nothing waits for them any more. */
static void abort_queue(struct queue* q) {
    q->active = false;
    set_ready(q, false);
    for (unsigned i = 0; i < LAUNCHES; ++i) {
        const struct launch* l = &launches[q->hart][i];
        if (l->used && l->queue == q) register_write(banked(CP_DISPATCH_ABORT, q->hart, DISPATCH_STRIDE), l->cookie);
    }
    register_write64(CP_DOORBELL_PENDING, 1ull << q->index);
    if (!q->in_flight) shared(q)->acknowledged = GPU_QUEUE_FREE;
}

static void update_page_tables(void) {
    static uint32_t lock;
    lock_acquire(&lock);
    for (unsigned s = 0; s < GPU_ADDRESS_SPACES; ++s) {
        const uint64_t root = SRAM(uint64_t, GPU_SRAM_SPACES)[s];
        if (register_read64(CP_PAGE_TABLE + 8 * s) == root) continue;
        register_write64(CP_PAGE_TABLE + 8 * s, root);
        register_write(CP_TLB_INVALIDATE, s);
        while (register_read(CP_TLB_BUSY)) __asm__ volatile("pause");
    }
    lock_release(&lock);
}

/* Reads the host's tables again: queues that came or went, page tables. */
static void queues_update(unsigned hart) {
    update_page_tables();
    owned[hart] = register_read64(CP_HART_QUEUES + 8 * hart);
    for (unsigned i = 0; i < GPU_QUEUES; ++i) {
        struct queue* q = &queues[i];
        q->index = i;
        const uint32_t requested = shared(q)->state, acknowledged = shared(q)->acknowledged;
        if (acknowledged != GPU_QUEUE_FREE) {
            if (requested == GPU_QUEUE_FREE && q->hart == hart) abort_queue(q);
        } else if (requested == GPU_QUEUE_ACTIVE && owned[hart] >> i & 1) {
            q->hart = hart;
            activate(q);
        }
    }
}

/* Takes doorbells. A function of its own, so that a test can corrupt it. */
__attribute__((noinline)) static void queues_doorbells(unsigned hart) {
    const uint64_t pending = register_read64(CP_DOORBELL_PENDING) & owned[hart];
    register_write64(CP_DOORBELL_PENDING, pending);
    for (uint64_t left = pending; left; left &= left - 1) {
        struct queue* q = &queues[lowest(left)];
        if (!q->active || q->hart != hart) continue;
        /* Several producers may ring out of order, so the value only tells whether the ring was overrun. */
        const uint64_t packet = register_read64(CP_DOORBELL_VALUE + 8 * q->index);
        if ((int64_t)(packet - q->next) >= (int64_t)q->packets)
            fail(q, packet, &(struct failure){GPU_FAULT_OVERFLOW, q->ring});
        else
            set_ready(q, true);
    }
}

/* The packet at the head of a queue, if it has been written and can be executed. */
static enum progress step(struct queue* q) {
    const uint64_t at = q->ring + (q->next & (q->packets - 1)) * 64, index = q->next;
    select_space(q);
    uint64_t packet[8] = {0};
    struct failure failure = {0, at};
    enum progress outcome = PROGRESS_FAILED;
    acquire();
    failure.fault = virtual_load(at, packet, 1);
    if (!failure.fault) {
        if ((packet[0] & AQL_HEADER_TYPE_MASK) == AQL_TYPE_INVALID) {
            set_ready(q, false); /* its doorbell comes when it has been written */
            return PROGRESS_WAITS;
        }
        /* The header was written last and is loaded first, as harts load in order: of the host's memory from there, of
         * the GPU's as one line. So the rest is there, and needs no second acquire. */
        failure.fault = virtual_load(at + 8, packet + 1, 7);
    }
    if (!failure.fault) outcome = packet_execute(q, packet, &failure);
    if (outcome == PROGRESS_WAITS || outcome == PROGRESS_POLLS) return outcome;
    if (outcome == PROGRESS_FAILED) {
        if (!failure.address) failure.address = at;
        fail(q, index, &failure);
        if (packet[7] % 64 == 0)
            signal_complete(packet[7], register_read64(CP_TIME_NS), failure.fault, signal_notifies(packet[7]));
    }
    ++q->next;
    failure.fault = virtual_store16(at, AQL_TYPE_INVALID);
    release();
    if (!failure.fault && q->read_index_at) {
        failure.address = q->read_index_at;
        failure.fault = virtual_store(q->read_index_at, q->next);
    }
    if (failure.fault && q->active) fail(q, index, &failure);
    return outcome;
}

/* Executes one packet: of the more important queues first, in turn among equals. */
static enum work queues_work(unsigned hart) {
    enum work found = WORK_NONE;
    for (int priority = PRIORITIES - 1; priority >= 0; --priority) {
        const uint64_t all = ready[hart][priority], up_to_last = (2ull << last_served[hart]) - 1;
        const uint64_t behind = all & ~up_to_last;
        uint64_t left = behind ? behind : all;
        for (uint64_t tried = 0; left;) {
            struct queue* q = &queues[lowest(left)];
            tried |= 1ull << q->index;
            const enum progress outcome = step(q);
            if (outcome != PROGRESS_WAITS && outcome != PROGRESS_POLLS) {
                last_served[hart] = q->index;
                return WORK_DONE;
            }
            if (outcome == PROGRESS_POLLS) found = WORK_WAITS;
            left = behind & ~tried ? behind & ~tried : all & ~tried;
        }
    }
    return found;
}

/* Finishes the launches that the dispatcher reports done. */
static void queues_finish(unsigned hart) {
    const uint64_t done_register = banked(CP_DISPATCH_DONE, hart, DISPATCH_STRIDE);
    uint64_t done;
    while ((done = register_read64(done_register)) & CP_DISPATCH_DONE_VALID) {
        const uint32_t fault = CP_DISPATCH_DONE_FAULT(done);
        struct launch* l = launch_of((uint32_t)done);
        struct queue* q = l->queue;
        if (fault) {
            report_dispatcher_faults(); /* records name launches, so before this one is forgotten */
            if (q->active) stop(q, fault, q->next);
        }
        select_space(q);
        const struct failure failure = {signal_complete(l->signal, l->start_ns, fault, l->notify), l->signal};
        const uint64_t packet = l->packet;
        l->used = false;
        --q->in_flight;
        if (failure.fault && q->active) fail(q, packet, &failure);
        if (!q->in_flight && shared(q)->state == GPU_QUEUE_FREE) shared(q)->acknowledged = GPU_QUEUE_FREE;
    }
}

static void handle(unsigned hart, uint32_t events) {
    if (events & GPU_EVENT_HOST) queues_update(hart);
    if (events & GPU_EVENT_DISPATCH) queues_finish(hart);
    if (events & GPU_EVENT_DOORBELL) queues_doorbells(hart);
}

const struct service dispatch_service = {GPU_EVENT_DOORBELL | GPU_EVENT_DISPATCH | GPU_EVENT_HOST, queues_update,
                                         handle, queues_work};
