/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that only wait. Queues have an order, so a barrier is a marker. */
#include "runtime/opencl/opencl.h"

static cl_int mark(cl_command_queue q, cl_command_type type, cl_uint count, const cl_event* after, cl_event* event) {
    struct cl_wait_list list;
    const cl_int failure = cl_begin(&list, q, count, after);
    if (failure) return cl_abandon(&list, failure);
    return cl_enqueued(&list, q, type, compute_mark(q->stream, list.after), false, event);
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue q, cl_uint count, const cl_event* after, cl_event* event) {
    return mark(q, CL_COMMAND_MARKER, count, after, event);
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue q, cl_uint count, const cl_event* after, cl_event* event) {
    return mark(q, CL_COMMAND_BARRIER, count, after, event);
}

cl_int clEnqueueMarker(cl_command_queue q, cl_event* event) {
    if (!event) return handle_is(q, cl_queue_kind) ? CL_INVALID_VALUE : CL_INVALID_COMMAND_QUEUE;
    return mark(q, CL_COMMAND_MARKER, 0, NULL, event);
}

cl_int clEnqueueBarrier(cl_command_queue q) { return mark(q, CL_COMMAND_BARRIER, 0, NULL, NULL); }

cl_int clEnqueueWaitForEvents(cl_command_queue q, cl_uint count, const cl_event* events) {
    if (!count || !events) return handle_is(q, cl_queue_kind) ? CL_INVALID_VALUE : CL_INVALID_COMMAND_QUEUE;
    const cl_int failure = mark(q, CL_COMMAND_BARRIER, count, events, NULL);
    return failure == CL_INVALID_EVENT_WAIT_LIST ? CL_INVALID_EVENT : failure;
}

/* Memory has its place already, and kernels reach it there. */
cl_int clEnqueueMigrateMemObjects(cl_command_queue q, cl_uint buffer_count, const cl_mem* buffers,
                                  cl_mem_migration_flags flags, cl_uint count, const cl_event* after, cl_event* event) {
    const cl_mem_migration_flags known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    if (!handle_is(q, cl_queue_kind)) return CL_INVALID_COMMAND_QUEUE;
    if (!buffer_count || !buffers || flags & ~known) return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < buffer_count; ++i) {
        if (!handle_is(buffers[i], cl_mem_kind)) return CL_INVALID_MEM_OBJECT;
        if (buffers[i]->context != q->context) return CL_INVALID_CONTEXT;
    }
    return mark(q, CL_COMMAND_MIGRATE_MEM_OBJECTS, count, after, event);
}
