/* SPDX-License-Identifier: Apache-2.0 */
/* Events, and what waits for them. */
#include "lib/heap.h"
#include "runtime/opencl/opencl.h"

const char cl_event_kind[] = "cl_event";

cl_int cl_begin(struct cl_wait_list* list, cl_command_queue q, cl_uint count, const cl_event* after) {
    *list = (struct cl_wait_list){0};
    if (!handle_is(q, cl_queue_kind)) return CL_INVALID_COMMAND_QUEUE;
    if (!count != !after) return CL_INVALID_EVENT_WAIT_LIST;
    for (cl_uint i = 0; i < count; ++i)
        if (!handle_is(after[i], cl_event_kind)) return CL_INVALID_EVENT_WAIT_LIST;
    for (cl_uint i = 0; i < count; ++i)
        if (after[i]->context != q->context) return CL_INVALID_CONTEXT;
    if (!count) return CL_SUCCESS;
    list->events = heap_allocate(count * sizeof *list->events);
    if (!list->events) return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; i < count; ++i) list->events[i] = after[i]->event;
    list->after = (struct compute_after){list->events, count, true};
    return CL_SUCCESS;
}

cl_int cl_abandon(struct cl_wait_list* list, cl_int failure) {
    heap_free(list->events);
    return failure;
}

/* What a fault is for those who wait. */
static cl_int status_of(unsigned fault) {
    if (fault == GPU_FAULT_DEPENDENCY) return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    return fault ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

cl_int cl_enqueued(struct cl_wait_list* list, cl_command_queue q, cl_command_type type, struct compute_event* done,
                   bool blocking, cl_event* event) {
    heap_free(list->events);
    if (!done) return CL_OUT_OF_HOST_MEMORY;
    if (event) {
        *event = cl_create(cl_event_kind, sizeof **event);
        if (*event) {
            cl_retain((*event)->queue = q);
            (*event)->context = q->context;
            (*event)->type = type;
            compute_hold((*event)->event = done);
        }
    }
    cl_int failure = event && !*event ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    if (blocking) {
        compute_wait(done);
        if (!failure) failure = status_of(done->fault);
        cl_notify();
    }
    compute_release(done);
    return failure;
}

cl_int clWaitForEvents(cl_uint count, const cl_event* events) {
    if (!count || !events) return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; ++i)
        if (!handle_is(events[i], cl_event_kind)) return CL_INVALID_EVENT;
    for (cl_uint i = 0; i < count; ++i)
        if (events[i]->context != events[0]->context) return CL_INVALID_CONTEXT;
    bool failed = false;
    for (cl_uint i = 0; i < count; ++i) {
        compute_wait(events[i]->event);
        failed |= events[i]->event->fault != 0;
    }
    cl_notify();
    return failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
}

cl_int cl_status(cl_event e) {
    compute_progress();
    if (e->failure) return e->failure;
    if (e->event->fault) return status_of(e->event->fault);
    if (e->event->ended) return CL_COMPLETE;
    return e->event->submitted ? CL_SUBMITTED : CL_QUEUED;
}

cl_int clGetEventInfo(cl_event e, cl_event_info what, size_t room, void* value, size_t* bytes) {
    if (!handle_is(e, cl_event_kind)) return CL_INVALID_EVENT;
    cl_notify();
    if (!handle_is(e, cl_event_kind)) return CL_INVALID_EVENT; /* a function of the program's has released it */
    const cl_int status = cl_status(e);
    switch (what) {
        case CL_EVENT_COMMAND_QUEUE: return cl_query(&e->queue, sizeof e->queue, room, value, bytes);
        case CL_EVENT_COMMAND_TYPE: return cl_query(&e->type, sizeof e->type, room, value, bytes);
        case CL_EVENT_REFERENCE_COUNT:
            return cl_query(&e->counted.references, sizeof e->counted.references, room, value, bytes);
        case CL_EVENT_CONTEXT: return cl_query(&e->context, sizeof e->context, room, value, bytes);
        case CL_EVENT_COMMAND_EXECUTION_STATUS: return cl_query(&status, sizeof status, room, value, bytes);
        default: return CL_INVALID_VALUE;
    }
}

cl_int clGetEventProfilingInfo(cl_event e, cl_profiling_info what, size_t room, void* value, size_t* bytes) {
    if (!handle_is(e, cl_event_kind)) return CL_INVALID_EVENT;
    compute_progress();
    const struct compute_event* c = e->event;
    if (!e->queue || !e->queue->profiled || !c->ended || c->fault) return CL_PROFILING_INFO_NOT_AVAILABLE;
    switch (what) {
        case CL_PROFILING_COMMAND_QUEUED: return cl_query(&c->queued_ns, 8, room, value, bytes);
        case CL_PROFILING_COMMAND_SUBMIT: return cl_query(&c->submitted_ns, 8, room, value, bytes);
        case CL_PROFILING_COMMAND_START: return cl_query(&c->start_ns, 8, room, value, bytes);
        case CL_PROFILING_COMMAND_END: return cl_query(&c->end_ns, 8, room, value, bytes);
        default: return CL_INVALID_VALUE;
    }
}

cl_int clRetainEvent(cl_event e) {
    if (!handle_is(e, cl_event_kind)) return CL_INVALID_EVENT;
    cl_retain(e);
    return CL_SUCCESS;
}

cl_int clReleaseEvent(cl_event e) {
    if (!handle_is(e, cl_event_kind)) return CL_INVALID_EVENT;
    if (!cl_drop(&e->counted)) return CL_SUCCESS;
    compute_release(e->event);
    if (e->queue)
        clReleaseCommandQueue(e->queue);
    else
        clReleaseContext(e->context);
    handle_destroy(e);
    return CL_SUCCESS;
}

cl_int clFlush(cl_command_queue q) {
    if (!handle_is(q, cl_queue_kind)) return CL_INVALID_COMMAND_QUEUE;
    compute_progress();
    cl_notify();
    return CL_SUCCESS;
}

cl_int clFinish(cl_command_queue q) {
    if (!handle_is(q, cl_queue_kind)) return CL_INVALID_COMMAND_QUEUE;
    compute_wait_stream(q->stream);
    const cl_int failure = status_of(compute_take_fault(q->stream));
    cl_notify();
    return failure;
}
