/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of buffers as memory of the host: a copy, which goes back when it is unmapped. */
#include "lib/heap.h"
#include "runtime/opencl/opencl.h"

void cl_drop_mapping(cl_mem b, struct cl_mapping* gone) {
    struct cl_mapping** at = &b->mappings;
    while (*at != gone) at = &(*at)->next;
    *at = gone->next;
    if (!b->host) heap_free(gone->at);
    heap_free(gone);
}

static cl_int check_access(cl_mem b, cl_map_flags flags) {
    const cl_map_flags writes = flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION);
    if (flags & ~(cl_map_flags)(CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) ||
        (flags & CL_MAP_WRITE_INVALIDATE_REGION && flags != CL_MAP_WRITE_INVALIDATE_REGION))
        return CL_INVALID_VALUE;
    if ((flags & CL_MAP_READ && b->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)) ||
        (writes && b->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)))
        return CL_INVALID_OPERATION;
    return CL_SUCCESS;
}

static struct cl_mapping* add_mapping(cl_mem b, cl_map_flags flags, size_t offset, size_t bytes) {
    struct cl_mapping* m = heap_allocate(sizeof *m);
    uint8_t* at = !m ? NULL : b->host ? b->host + offset : heap_allocate_aligned(bytes, CL_PART_ALIGNMENT);
    if (!at) {
        heap_free(m);
        return NULL;
    }
    *m = (struct cl_mapping){at, offset, bytes, flags & ~(cl_map_flags)CL_MAP_READ, b->mappings};
    return b->mappings = m;
}

void* clEnqueueMapBuffer(cl_command_queue q, cl_mem b, cl_bool blocking, cl_map_flags flags, size_t offset,
                         size_t bytes, cl_uint count, const cl_event* after, cl_event* event, cl_int* error) {
    struct cl_wait_list list;
    struct cl_mapping* m = NULL;
    cl_int failure = cl_begin(&list, q, count, after);
    if (!failure) failure = cl_use_part(q, b, offset, bytes);
    if (!failure) failure = check_access(b, flags);
    if (!failure && !(m = add_mapping(b, flags, offset, bytes))) failure = CL_OUT_OF_HOST_MEMORY;
    if (failure) return cl_created(NULL, cl_abandon(&list, failure), error);
    /* What the program does not write must come back as it was. */
    struct compute_event* done = flags & CL_MAP_WRITE_INVALIDATE_REGION
                                     ? compute_mark(q->stream, list.after)
                                     : compute_read(q->stream, m->at, cl_address(b) + offset, bytes, list.after);
    void* at = m->at;
    failure = cl_enqueued(&list, q, CL_COMMAND_MAP_BUFFER, done, blocking, event);
    if (!failure) return cl_created(at, 0, error);
    if (!done) cl_drop_mapping(b, m);
    return cl_created(NULL, failure, error);
}

static void free_copy(void* copy, unsigned fault) {
    (void)fault;
    heap_free(copy);
}

cl_int clEnqueueUnmapMemObject(cl_command_queue q, cl_mem b, void* mapped, cl_uint count, const cl_event* after,
                               cl_event* event) {
    struct cl_wait_list list;
    struct cl_mapping* m = NULL;
    cl_int failure = cl_begin(&list, q, count, after);
    if (!failure && !handle_is(b, cl_mem_kind)) failure = CL_INVALID_MEM_OBJECT;
    if (!failure && b->context != q->context) failure = CL_INVALID_CONTEXT;
    if (!failure)
        for (m = b->mappings; m && m->at != mapped;) m = m->next;
    if (!failure && !m) failure = CL_INVALID_VALUE;
    if (failure) return cl_abandon(&list, failure);
    struct compute_event* done = m->written
                                     ? compute_write(q->stream, cl_address(b) + m->offset, m->at, m->bytes, list.after)
                                     : compute_mark(q->stream, list.after);
    if (done && !b->host) { /* behind what still uses the copy */
        compute_release(compute_call(q->stream, free_copy, m->at, (struct compute_after){0}));
        m->at = NULL;
    }
    if (done) cl_drop_mapping(b, m);
    return cl_enqueued(&list, q, CL_COMMAND_UNMAP_MEM_OBJECT, done, false, event);
}
