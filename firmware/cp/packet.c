/* SPDX-License-Identifier: Apache-2.0 */
#include "cp/packet.h"

#include <stddef.h>

#include "abi/gpu_apertures.h"
#include "abi/kernel_descriptor.h"
#include "cp/access.h"
#include "cp/launch.h"
#include "cp/registers.h"
#include "cp/stream.h"

struct launch launches[MAX_HARTS][LAUNCHES];

static enum progress fail(struct failure* failure, uint32_t fault, uint64_t address) {
    failure->fault = fault;
    failure->address = address;
    return PROGRESS_FAILED;
}

static uint32_t field(uint64_t signal, size_t offset, uint64_t* value) {
    acquire(); /* others write signals at any time */
    return virtual_load(signal + offset, value, 1);
}

bool signal_notifies(uint64_t signal) {
    uint64_t event;
    return signal && !field(signal, offsetof(struct aql_signal, event_id), &event) && (uint32_t)event;
}

uint32_t signal_complete(uint64_t signal, uint64_t start_ns, uint32_t fault, bool notify) {
    if (!signal) return GPU_FAULT_NONE;
    uint32_t problem = virtual_store(signal + offsetof(struct aql_signal, start_ns), start_ns);
    if (!problem) problem = virtual_store(signal + offsetof(struct aql_signal, end_ns), register_read64(CP_TIME_NS));
    if (problem) return problem;
    release();
    const uint64_t value = signal + offsetof(struct aql_signal, value);
    problem = fault ? virtual_store(value, (uint64_t) - (int64_t)fault) : virtual_add(value, -1);
    if (!problem && notify) register_write(CP_INTERRUPT, GPU_VECTOR_SIGNAL);
    return problem;
}

static unsigned acquire_scope(uint16_t header) { return header >> AQL_HEADER_ACQUIRE_SHIFT & 3; }

static bool kernel_fits(const struct kernel_descriptor* k) {
    return k->magic == KERNEL_DESCRIPTOR_MAGIC && k->entry - GPU_CODE_BASE < GPU_CODE_SIZE && k->entry % 4 == 0 &&
           k->scratch_bytes <= GPU_SCRATCH_SIZE && k->lds_bytes <= GPU_LDS_SIZE;
}

/* Places that a launch of this priority leaves to more important queues. */
static bool dispatcher_has_space(const struct queue* q) {
    static unsigned depth;
    const unsigned free = register_read(banked(CP_DISPATCH_FREE, q->hart, DISPATCH_STRIDE));
    if (free > depth) depth = free;
    const unsigned reserve = PRIORITIES - 1 - q->priority;
    return free > (reserve < depth ? reserve : depth - 1);
}

static void program(const struct queue* q, const struct aql_kernel_dispatch* p, const struct kernel_descriptor* k,
                    const uint32_t grid[3], const uint32_t group[3]) {
    const uint32_t scratch = k->scratch_bytes > p->private_segment_bytes ? k->scratch_bytes : p->private_segment_bytes;
    const uint32_t lds = k->lds_bytes > p->group_segment_bytes ? k->lds_bytes : p->group_segment_bytes;
    const uint64_t at = q->hart * (uint64_t)DISPATCH_STRIDE;
    register_write64(CP_DISPATCH_IMAGE + at, p->kernel_object - k->image_offset);
    register_write64(CP_DISPATCH_ENTRY + at, k->entry);
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
    register_write(CP_DISPATCH_ACQUIRE + at, acquire_scope(p->header));
    register_write64(CP_DISPATCH_FIRST_GROUP + at, p->part & 0xffffffff);
    register_write64(CP_DISPATCH_GROUPS + at, p->chunk ? 0 : p->part >> 32);
    register_write(CP_DISPATCH_CHUNK + at, p->chunk);
    register_write(CP_DISPATCH_PERIOD + at, (uint32_t)(p->part >> 32));
    const uint32_t flags = k->flags | (p->dimensions & AQL_DIMENSIONS_COOPERATIVE ? KERNEL_COOPERATIVE : 0);
    if (flags) register_write(CP_DISPATCH_FLAGS + at, flags);
}

static enum progress dispatch(struct queue* q, const struct aql_kernel_dispatch* p, struct failure* failure) {
    struct launch* l = launch_free(q->hart);
    if (!l) return PROGRESS_WAITS;
    if (!dispatcher_has_space(q)) return launch_any(q->hart) ? PROGRESS_WAITS : PROGRESS_POLLS;

    const unsigned dimensions = p->dimensions & AQL_DIMENSIONS_MASK;
    uint32_t grid[3], group[3];
    uint64_t items = 1;
    bool good = dimensions && p->kernel_object % 8 == 0 && p->kernarg_address % 16 == 0;
    for (unsigned d = 0; d < 3; ++d) {
        grid[d] = d < dimensions ? p->grid_size[d] : 1;
        group[d] = d < dimensions ? p->workgroup_size[d] : 1;
        items *= group[d];
        good = good && grid[d] && group[d];
    }
    if (!good || items > GPU_MAX_WORKGROUP_ITEMS) return fail(failure, GPU_FAULT_PACKET, 0);

    struct kernel_descriptor k = {0}; /* its name is for people */
    const uint32_t problem =
        virtual_load(p->kernel_object, (uint64_t*)&k, offsetof(struct kernel_descriptor, name) / 8);
    if (problem) return fail(failure, problem, p->kernel_object);
    if (!kernel_fits(&k)) return fail(failure, GPU_FAULT_KERNEL, p->kernel_object);
    if (k.kernarg_bytes && !p->kernarg_address) return fail(failure, GPU_FAULT_PACKET, 0);

    program(q, p, &k, grid, group);
    l->used = true;
    l->signal = p->completion_signal;
    l->start_ns = register_read64(CP_TIME_NS);
    l->packet = q->next;
    l->image = p->kernel_object - k.image_offset;
    l->queue = q;
    ++q->in_flight;
    register_write(CP_DISPATCH_START + q->hart * (uint64_t)DISPATCH_STRIDE, l->cookie);
    l->notify = signal_notifies(l->signal); /* while the kernel runs: of the host's memory this is a round trip */
    return PROGRESS_LAUNCHED;
}

/* AND: all signals are 0. OR: one is. A negative signal tells that what it stood for has failed. */
static enum progress barrier(const struct aql_barrier* b, bool all, struct failure* failure) {
    unsigned dependencies = 0, zero = 0;
    uint64_t negative = 0;
    for (unsigned i = 0; i < 5; ++i) {
        if (!b->dependency[i]) continue;
        if (b->dependency[i] % 64) return fail(failure, GPU_FAULT_PACKET, b->dependency[i]);
        uint64_t value;
        const uint32_t problem = field(b->dependency[i], offsetof(struct aql_signal, value), &value);
        if (problem) return fail(failure, problem, b->dependency[i]);
        ++dependencies;
        zero += value == 0;
        if ((int64_t)value < 0) negative = b->dependency[i];
    }
    const bool satisfied = all ? zero == dependencies : zero || !dependencies;
    if (!satisfied && negative) return fail(failure, GPU_FAULT_DEPENDENCY, negative);
    if (!satisfied) return PROGRESS_POLLS;
    if (acquire_scope(b->header) != AQL_FENCE_NONE) register_write(CP_ACQUIRE, acquire_scope(b->header));
    return PROGRESS_DONE;
}

static enum progress vendor(struct queue* q, const struct aql_vendor* v, struct failure* failure) {
    uint32_t problem = GPU_FAULT_NONE;
    switch (v->operation) {
        case AQL_VENDOR_TIMESTAMP: problem = virtual_store(v->argument[0], register_read64(CP_TIME_NS)); break;
        case AQL_VENDOR_COPY: problem = virtual_copy(v->argument[1], v->argument[0], v->argument[2]); break;
        case AQL_VENDOR_INVALIDATE_TLB:
            register_write(CP_TLB_INVALIDATE, q->address_space);
            while (register_read(CP_TLB_BUSY)) __asm__ volatile("pause");
            break;
        default: return stream_execute(q, (const uint64_t*)v, failure);
    }
    return problem ? fail(failure, problem, v->argument[0]) : PROGRESS_DONE;
}

enum progress packet_execute(struct queue* q, const uint64_t packet[8], struct failure* failure) {
    const uint16_t header = (uint16_t)packet[0];
    const uint64_t signal = packet[7];
    if (header & AQL_HEADER_BARRIER && q->in_flight) return PROGRESS_WAITS;
    if (signal % 64) return fail(failure, GPU_FAULT_PACKET, signal);
    if ((header & AQL_HEADER_TYPE_MASK) == AQL_TYPE_KERNEL_DISPATCH)
        return dispatch(q, (const struct aql_kernel_dispatch*)packet, failure);
    const uint64_t start = register_read64(CP_TIME_NS);
    enum progress outcome;
    switch (header & AQL_HEADER_TYPE_MASK) {
        case AQL_TYPE_BARRIER_AND: outcome = barrier((const struct aql_barrier*)packet, true, failure); break;
        case AQL_TYPE_BARRIER_OR: outcome = barrier((const struct aql_barrier*)packet, false, failure); break;
        case AQL_TYPE_VENDOR: outcome = vendor(q, (const struct aql_vendor*)packet, failure); break;
        default: return fail(failure, GPU_FAULT_PACKET, 0);
    }
    if (outcome != PROGRESS_DONE) return outcome;
    const uint32_t problem = signal_complete(signal, start, GPU_FAULT_NONE, signal_notifies(signal));
    return problem ? fail(failure, problem, signal) : PROGRESS_DONE;
}
