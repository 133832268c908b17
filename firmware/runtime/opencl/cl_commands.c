/* SPDX-License-Identifier: Apache-2.0 */
/* What queues are given to do. */
#include "runtime/opencl/opencl.h"

enum { CHOSEN_GROUP = 256, LOCAL_ALIGNMENT = 16 };

static uint64_t align(uint64_t bytes) { return (bytes + LOCAL_ALIGNMENT - 1) & ~(uint64_t)(LOCAL_ALIGNMENT - 1); }

cl_int clEnqueueReadBuffer(cl_command_queue q, cl_mem b, cl_bool blocking, size_t offset, size_t bytes, void* to,
                           cl_uint count, const cl_event* after, cl_event* event) {
    struct cl_wait_list list;
    cl_int failure = cl_begin(&list, q, count, after);
    if (!failure) failure = cl_use_part(q, b, offset, bytes);
    if (!failure && !to) failure = CL_INVALID_VALUE;
    if (failure) return cl_abandon(&list, failure);
    return cl_enqueued(&list, q, CL_COMMAND_READ_BUFFER,
                       compute_read(q->stream, to, cl_address(b) + offset, bytes, list.after), blocking, event);
}

cl_int clEnqueueWriteBuffer(cl_command_queue q, cl_mem b, cl_bool blocking, size_t offset, size_t bytes,
                            const void* from, cl_uint count, const cl_event* after, cl_event* event) {
    struct cl_wait_list list;
    cl_int failure = cl_begin(&list, q, count, after);
    if (!failure) failure = cl_use_part(q, b, offset, bytes);
    if (!failure && !from) failure = CL_INVALID_VALUE;
    if (failure) return cl_abandon(&list, failure);
    return cl_enqueued(&list, q, CL_COMMAND_WRITE_BUFFER,
                       compute_write(q->stream, cl_address(b) + offset, from, bytes, list.after), blocking, event);
}

cl_int clEnqueueCopyBuffer(cl_command_queue q, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                           size_t bytes, cl_uint count, const cl_event* after, cl_event* event) {
    struct cl_wait_list list;
    cl_int failure = cl_begin(&list, q, count, after);
    if (!failure) failure = cl_use_part(q, from, from_offset, bytes);
    if (!failure) failure = cl_use_part(q, to, to_offset, bytes);
    if (!failure && from->memory == to->memory && cl_address(from) + from_offset < cl_address(to) + to_offset + bytes &&
        cl_address(to) + to_offset < cl_address(from) + from_offset + bytes)
        failure = CL_MEM_COPY_OVERLAP;
    if (failure) return cl_abandon(&list, failure);
    return cl_enqueued(
        &list, q, CL_COMMAND_COPY_BUFFER,
        compute_copy(q->stream, cl_address(to) + to_offset, cl_address(from) + from_offset, bytes, list.after), false,
        event);
}

cl_int clEnqueueFillBuffer(cl_command_queue q, cl_mem b, const void* pattern, size_t pattern_bytes, size_t offset,
                           size_t bytes, cl_uint count, const cl_event* after, cl_event* event) {
    struct cl_wait_list list;
    cl_int failure = cl_begin(&list, q, count, after);
    if (!failure) failure = cl_use_part(q, b, offset, bytes);
    if (!failure && (!pattern || !pattern_bytes || pattern_bytes > COMPUTE_MAX_PATTERN ||
                     pattern_bytes & (pattern_bytes - 1) || offset % pattern_bytes || bytes % pattern_bytes))
        failure = CL_INVALID_VALUE;
    if (failure) return cl_abandon(&list, failure);
    return cl_enqueued(&list, q, CL_COMMAND_FILL_BUFFER,
                       compute_fill(q->stream, cl_address(b) + offset, bytes, pattern, pattern_bytes, list.after),
                       false, event);
}

/* ---- kernels ---- */

/* The work-group where the program leaves it open: what the source requires, or the largest up to 256 that fits. */
static void choose_group(const struct program_kernel* info, struct compute_grid* grid) {
    const uint64_t most = info->max_group && info->max_group < CHOSEN_GROUP ? info->max_group : CHOSEN_GROUP;
    uint64_t left = most;
    for (unsigned d = 0; d < 3; ++d) {
        grid->group[d] = info->group[d];
        if (info->group[0]) continue;
        uint64_t size = grid->items[d] < left ? grid->items[d] : left;
        while (size > 1 && grid->items[d] % size) --size;
        grid->group[d] = size ? size : 1;
        left /= grid->group[d];
    }
}

static cl_int grid_of(const struct compute_kernel* k, cl_uint dimensions, const size_t* offset, const size_t* global,
                      const size_t* local, struct compute_grid* grid) {
    if (!dimensions || dimensions > 3) return CL_INVALID_WORK_DIMENSION;
    if (!global) return CL_INVALID_GLOBAL_WORK_SIZE;
    for (unsigned d = 0; d < 3; ++d) {
        if (offset && d < dimensions && offset[d]) return CL_INVALID_GLOBAL_OFFSET;
        grid->items[d] = d < dimensions ? global[d] : 1;
        if (!grid->items[d]) return CL_INVALID_GLOBAL_WORK_SIZE;
        grid->group[d] = local && d < dimensions ? local[d] : 1;
    }
    if (!local) choose_group(k->info, grid);
    for (unsigned d = 0; d < 3; ++d) {
        if (grid->group[d] > GPU_MAX_WORKGROUP_ITEMS) return CL_INVALID_WORK_ITEM_SIZE;
        if (!grid->group[d] || grid->items[d] % grid->group[d]) return CL_INVALID_WORK_GROUP_SIZE;
    }
    switch (compute_check(k, grid)) {
        case COMPUTE_FITS: return CL_SUCCESS;
        case COMPUTE_GRID_EMPTY:
        case COMPUTE_GRID_LARGE: return CL_INVALID_GLOBAL_WORK_SIZE;
        case COMPUTE_LOCAL_LARGE: return CL_OUT_OF_RESOURCES;
        default: return CL_INVALID_WORK_GROUP_SIZE;
    }
}

/* The block of arguments: places of buffers, and of local memory behind the kernel's own. */
static cl_int arguments_of(cl_command_queue q, cl_kernel k, uint8_t* block, uint64_t* local_bytes) {
    const struct program_kernel* info = k->any->info;
    memcpy(block, k->values, info->argument_bytes);
    *local_bytes = 0;
    for (uint32_t i = 0; i < info->parameter_count; ++i) {
        const struct program_parameter* p = &k->any->parameters[i];
        const struct cl_argument* a = &k->arguments[i];
        uint64_t address = 0;
        if (!a->set) return CL_INVALID_KERNEL_ARGS;
        if (p->kind == PROGRAM_VALUE) continue;
        if (p->kind == PROGRAM_LOCAL) {
            address = GPU_LDS_BASE + info->lds_bytes + *local_bytes;
            if (a->local_bytes > q->stream->device->gpu->lds_bytes) return CL_OUT_OF_RESOURCES;
            *local_bytes += align(a->local_bytes);
        } else if (a->buffer) {
            if (!handle_is(a->buffer, cl_mem_kind)) return CL_INVALID_KERNEL_ARGS; /* it has been released */
            if (a->buffer->context != q->context) return CL_INVALID_CONTEXT;
            const cl_int failure = cl_place_buffer(a->buffer, q->stream->device);
            if (failure) return failure;
            address = cl_address(a->buffer);
        }
        memcpy(block + p->offset, &address, sizeof address);
    }
    return CL_SUCCESS;
}

static cl_int launch(cl_command_queue q, cl_kernel k, cl_command_type type, cl_uint dimensions, const size_t* offset,
                     const size_t* global, const size_t* local, cl_uint count, const cl_event* after, cl_event* event) {
    static uint8_t block[GPU_LARGE_KERNARG_BYTES];
    struct cl_wait_list list;
    struct compute_grid grid = {{0}, {0}, 0, false};
    const struct compute_kernel* own = NULL;
    cl_int failure = cl_begin(&list, q, count, after);
    if (!failure && !handle_is(k, cl_kernel_kind)) failure = CL_INVALID_KERNEL;
    if (!failure && k->program->context != q->context) failure = CL_INVALID_CONTEXT;
    if (!failure && !(own = k->kernels[cl_place(q->context, q->stream->device)]))
        failure = CL_INVALID_PROGRAM_EXECUTABLE;
    if (!failure) failure = arguments_of(q, k, block, &grid.local_bytes);
    if (!failure) failure = grid_of(own, dimensions, offset, global, local, &grid);
    if (failure) return cl_abandon(&list, failure);
    return cl_enqueued(&list, q, type, compute_launch(q->stream, own, &grid, block, list.after), false, event);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dimensions, const size_t* offset,
                              const size_t* global, const size_t* local, cl_uint count, const cl_event* after,
                              cl_event* event) {
    return launch(q, k, CL_COMMAND_NDRANGE_KERNEL, dimensions, offset, global, local, count, after, event);
}

cl_int clEnqueueTask(cl_command_queue q, cl_kernel k, cl_uint count, const cl_event* after, cl_event* event) {
    const size_t one = 1;
    return launch(q, k, CL_COMMAND_TASK, 1, NULL, &one, &one, count, after, event);
}

/* The machine has no processor for it but the one that calls. */
cl_int clEnqueueNativeKernel(cl_command_queue q, void (*function)(void*), void* arguments, size_t bytes,
                             cl_uint buffer_count, const cl_mem* buffers, const void** places, cl_uint count,
                             const cl_event* after, cl_event* event) {
    (void)function, (void)arguments, (void)bytes, (void)buffer_count, (void)buffers, (void)places;
    (void)count, (void)after, (void)event;
    return handle_is(q, cl_queue_kind) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}
