/* SPDX-License-Identifier: Apache-2.0 */
#include "cp/queue.h"

#include "abi/aql.h"
#include "cp/packet.h"
#include "cp/registers.h"
#include "cp/report.h"

static struct queue queues[GPU_QUEUES];
enum { PRIORITIES = 3 };

static void select_space(const struct queue* q) {
    register_write(banked(CP_ADDRESS_SPACE, q->hart, WORD_STRIDE), q->address_space);
}

static void fail(struct queue* q, uint32_t fault) {
    volatile struct gpu_queue* shared = SRAM(struct gpu_queue, GPU_SRAM_QUEUES) + q->index;
    shared->error = fault;
    shared->state = GPU_QUEUE_ERROR;
    q->active = false;
}

static void report_packet(const struct queue* q, uint64_t packet, uint32_t fault, uint64_t address) {
    struct gpu_fault_record r = {0};
    r.fault = fault;
    r.queue = q->index;
    r.packet = packet;
    r.address = address;
    report(&r);
}

void queues_update(unsigned hart, unsigned harts) {
    if (hart == 0)
        for (unsigned s = 0; s < GPU_ADDRESS_SPACES; ++s) {
            const uint64_t root = SRAM(uint64_t, GPU_SRAM_SPACES)[s];
            if (register_read64(CP_PAGE_TABLE + 8 * s) == root) continue;
            register_write64(CP_PAGE_TABLE + 8 * s, root);
            register_write(CP_TLB_INVALIDATE, s);
            while (register_read(CP_TLB_BUSY)) __asm__ volatile("pause");
        }
    for (unsigned i = hart; i < GPU_QUEUES; i += harts) {
        volatile struct gpu_queue* shared = SRAM(struct gpu_queue, GPU_SRAM_QUEUES) + i;
        struct queue* q = &queues[i];
        const bool wanted = shared->state == GPU_QUEUE_ACTIVE;
        if (wanted == q->active) continue;
        q->active = wanted;
        if (!wanted) continue;
        q->hart = hart;
        q->index = i;
        q->packets = shared->packets;
        q->address_space = shared->address_space % GPU_ADDRESS_SPACES;
        q->priority = shared->priority < PRIORITIES ? shared->priority : PRIORITIES - 1;
        q->ring = shared->ring;
        q->read_index_at = shared->read_index;
        q->scratch = shared->scratch;
        q->scratch_bytes = shared->scratch_bytes;
        q->next = q->limit = 0;
        q->under_way = 0;
        if (!q->packets || q->packets & (q->packets - 1) || q->ring % 64) {
            fail(q, GPU_FAULT_PACKET);
            report_packet(q, 0, GPU_FAULT_PACKET, q->ring);
        }
    }
}

void queues_rung(unsigned hart, unsigned harts) {
    const uint64_t rung = register_read64(CP_DOORBELL_PENDING);
    for (unsigned i = hart; i < GPU_QUEUES; i += harts) {
        if (!(rung >> i & 1)) continue;
        register_write64(CP_DOORBELL_PENDING, 1ull << i);
        struct queue* q = &queues[i];
        if (!q->active) continue;
        const uint64_t limit = register_read64(CP_DOORBELL_VALUE + 8 * i) + 1;
        if (limit - q->next > q->packets) {  /* nobody can have written that many */
            report_packet(q, limit, GPU_FAULT_OVERFLOW, q->ring);
            fail(q, GPU_FAULT_OVERFLOW);
        } else if (limit > q->limit) {
            q->limit = limit;
        }
    }
}

/* One packet of a queue, if it has one that can be executed. */
static enum progress step(struct queue* q) {
    volatile uint64_t* slot = VIRTUAL(uint64_t, q->ring + (q->next & (q->packets - 1)) * 64);
    select_space(q);
    uint64_t packet[8];
    packet[0] = slot[0];
    if ((packet[0] & AQL_HEADER_TYPE_MASK) == AQL_TYPE_INVALID) {
        q->limit = q->next;  /* not written yet: its doorbell comes */
        return PROGRESS_DONE;
    }
    order();
    for (unsigned i = 1; i < 8; ++i) packet[i] = slot[i];
    uint32_t fault = 0;
    const uint64_t index = q->next;
    const enum progress outcome = packet_execute(q, packet, &fault);
    if (outcome == PROGRESS_WAITS) return outcome;
    *(volatile uint16_t*)slot = AQL_TYPE_INVALID;
    order();
    ++q->next;
    if (q->read_index_at) *VIRTUAL(uint64_t, q->read_index_at) = q->next;
    if (outcome == PROGRESS_FAILED) {
        report_packet(q, index, fault, q->ring + (index & (q->packets - 1)) * 64);
        signal_complete(packet[7] % 64 ? 0 : packet[7], register_read64(CP_TIME_NS), fault);
        fail(q, fault);
    }
    return outcome;
}

bool queues_work(unsigned hart, unsigned harts) {
    bool waits = false;
    for (int priority = PRIORITIES - 1; priority >= 0; --priority)
        for (unsigned i = hart; i < GPU_QUEUES; i += harts) {
            struct queue* q = &queues[i];
            while (q->active && (int)q->priority == priority && q->next < q->limit) {
                const enum progress outcome = step(q);
                if (outcome == PROGRESS_WAITS) {
                    /* A kernel's end makes an event; a barrier's signal, which anybody may change, makes none. */
                    waits |= q->under_way == 0;
                    break;
                }
            }
        }
    return waits;
}

void queues_finish(unsigned hart) {
    const uint64_t done_register = banked(CP_DISPATCH_DONE, hart, DISPATCH_STRIDE);
    uint64_t done;
    while ((done = register_read64(done_register)) & CP_DISPATCH_DONE_VALID) {
        const uint32_t fault = CP_DISPATCH_DONE_FAULT(done);
        struct launch* l = packet_launch(hart, cookie_slot((uint32_t)done));
        struct queue* q = l->queue;
        select_space(q);
        signal_complete(l->signal, l->start_ns, fault);
        l->used = false;
        --q->under_way;
        if (fault) fail(q, fault);
    }
}
