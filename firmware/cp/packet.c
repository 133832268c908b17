/* SPDX-License-Identifier: Apache-2.0 */
#include "cp/packet.h"

#include "abi/gpu_apertures.h"
#include "abi/kernel_descriptor.h"
#include "cp/registers.h"

static struct launch launches[16][LAUNCHES];

struct launch* packet_launch(unsigned hart, unsigned slot) { return &launches[hart][slot]; }

void signal_complete(uint64_t signal, uint64_t start_ns, uint32_t fault) {
    if (!signal) return;
    volatile struct aql_signal* s = VIRTUAL(struct aql_signal, signal);
    s->start_ns = start_ns;
    s->end_ns = register_read64(CP_TIME_NS);
    order();
    volatile int64_t* value = &s->value;
    if (fault)
        *value = -(int64_t)fault;
    else
        __asm__ volatile("amoadd.d.aqrl zero, %1, %0" : "+A"(*value) : "r"(-1ll) : "memory");
    if (s->event_id) register_write(CP_INTERRUPT, GPU_VECTOR_SIGNAL);
}

static bool kernel_fits(const struct kernel_descriptor* k) {
    return k->magic == KERNEL_DESCRIPTOR_MAGIC && k->entry - GPU_CODE_BASE < GPU_CODE_SIZE && k->entry % 2 == 0 &&
           k->scratch_bytes <= GPU_SCRATCH_SIZE && k->lds_bytes <= GPU_LDS_SIZE;
}

static enum progress dispatch(struct queue* q, const struct aql_kernel_dispatch* p, uint32_t* fault) {
    const unsigned hart = q->hart;
    unsigned slot = 0;
    while (slot < LAUNCHES && launches[hart][slot].used) ++slot;
    if (slot == LAUNCHES || !register_read(banked(CP_DISPATCH_FREE, hart, DISPATCH_STRIDE))) return PROGRESS_WAITS;

    const unsigned dimensions = p->dimensions & 3;
    uint32_t grid[3], group[3];
    uint64_t items = 1;
    for (unsigned d = 0; d < 3; ++d) {
        grid[d] = d < dimensions ? p->grid_size[d] : 1;
        group[d] = d < dimensions ? p->workgroup_size[d] : 1;
        items *= group[d];
        if (!grid[d] || !group[d]) *fault = GPU_FAULT_PACKET;
    }
    if (!dimensions || items > 1024 || p->kernel_object % 8 || p->kernel_object < GPU_GLOBAL_BASE) *fault = GPU_FAULT_PACKET;
    if (*fault) return PROGRESS_FAILED;

    const volatile struct kernel_descriptor* from = VIRTUAL(struct kernel_descriptor, p->kernel_object);
    const struct kernel_descriptor k = {.magic = from->magic, .entry = from->entry, .image_offset = from->image_offset,
                                        .lds_bytes = from->lds_bytes, .scratch_bytes = from->scratch_bytes};
    if (!kernel_fits(&k)) {
        *fault = GPU_FAULT_KERNEL;
        return PROGRESS_FAILED;
    }
    const uint32_t scratch = k.scratch_bytes > p->private_segment_bytes ? k.scratch_bytes : p->private_segment_bytes;
    const uint32_t lds = k.lds_bytes > p->group_segment_bytes ? k.lds_bytes : p->group_segment_bytes;

    const uint64_t at = hart * (uint64_t)DISPATCH_STRIDE;
    register_write64(CP_DISPATCH_IMAGE + at, p->kernel_object - k.image_offset);
    register_write64(CP_DISPATCH_ENTRY + at, k.entry);
    register_write64(CP_DISPATCH_KERNARG + at, p->kernarg_address);
    register_write64(CP_DISPATCH_SCRATCH + at, q->scratch);
    register_write64(CP_DISPATCH_SCRATCH_SIZE + at, q->scratch_bytes);
    register_write(CP_DISPATCH_SCRATCH_BYTES + at, (scratch + 15) & ~15u);
    register_write(CP_DISPATCH_LDS_BYTES + at, lds);
    for (unsigned d = 0; d < 3; ++d) {
        register_write(CP_DISPATCH_GRID_X + at + 4 * d, grid[d]);
        register_write(CP_DISPATCH_GROUP_X + at + 4 * d, group[d]);
    }
    register_write(CP_DISPATCH_SPACE + at, q->address_space);
    register_write64(CP_DISPATCH_FIRST_GROUP + at, p->part & 0xffffffff);
    register_write64(CP_DISPATCH_GROUPS + at, p->chunk ? 0 : p->part >> 32);
    register_write(CP_DISPATCH_CHUNK + at, p->chunk);
    register_write(CP_DISPATCH_PERIOD + at, (uint32_t)(p->part >> 32));

    struct launch* l = &launches[hart][slot];
    l->used = true;
    l->signal = p->completion_signal;
    l->queue = q;
    l->start_ns = register_read64(CP_TIME_NS);
    ++q->under_way;
    register_write(CP_DISPATCH_START + at, make_cookie(q->index, slot, q->next));
    return PROGRESS_LAUNCHED;
}

/* AND: all signals are 0. OR: one is. */
static bool satisfied(const struct aql_barrier* b, bool all) {
    bool any_named = false;
    for (unsigned i = 0; i < 5; ++i) {
        if (!b->dependency[i]) continue;
        any_named = true;
        const bool zero = VIRTUAL(struct aql_signal, b->dependency[i])->value == 0;
        if (zero != all) return zero;
    }
    return all || !any_named;
}

static enum progress vendor(struct queue* q, const struct aql_vendor* v, uint32_t* fault) {
    switch (v->operation) {
        case AQL_VENDOR_TIMESTAMP:
            *VIRTUAL(uint64_t, v->argument[0]) = register_read64(CP_TIME_NS);
            return PROGRESS_DONE;
        case AQL_VENDOR_COPY:
            for (uint64_t i = 0; i < v->argument[2]; ++i)
                *VIRTUAL(uint8_t, v->argument[1] + i) = *VIRTUAL(uint8_t, v->argument[0] + i);
            return PROGRESS_DONE;
        case AQL_VENDOR_INVALIDATE_TLB:
            register_write(CP_TLB_INVALIDATE, q->address_space);
            while (register_read(CP_TLB_BUSY)) __asm__ volatile("pause");
            return PROGRESS_DONE;
        default:
            *fault = GPU_FAULT_PACKET;
            return PROGRESS_FAILED;
    }
}

enum progress packet_execute(struct queue* q, const uint64_t packet[8], uint32_t* fault) {
    const uint16_t header = (uint16_t)packet[0];
    const uint64_t signal = packet[7];
    const uint64_t start = register_read64(CP_TIME_NS);
    if (header & AQL_HEADER_BARRIER && q->under_way) return PROGRESS_WAITS;
    if (signal % 64) {
        *fault = GPU_FAULT_PACKET;
        return PROGRESS_FAILED;
    }
    enum progress outcome;
    switch (header & AQL_HEADER_TYPE_MASK) {
        case AQL_TYPE_KERNEL_DISPATCH: return dispatch(q, (const struct aql_kernel_dispatch*)packet, fault);
        case AQL_TYPE_BARRIER_AND:
            outcome = satisfied((const struct aql_barrier*)packet, true) ? PROGRESS_DONE : PROGRESS_WAITS;
            break;
        case AQL_TYPE_BARRIER_OR:
            outcome = satisfied((const struct aql_barrier*)packet, false) ? PROGRESS_DONE : PROGRESS_WAITS;
            break;
        case AQL_TYPE_VENDOR: outcome = vendor(q, (const struct aql_vendor*)packet, fault); break;
        default:
            *fault = GPU_FAULT_PACKET;
            return PROGRESS_FAILED;
    }
    if (outcome == PROGRESS_DONE) signal_complete(signal, start, 0);
    return outcome;
}
