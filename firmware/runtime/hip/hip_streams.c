/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events. */
#include "lib/heap.h"
#include "runtime/hip/hip.h"

enum { LOW = 0, NORMAL = 1, HIGH = 2 };

const char hip_stream_kind[] = "hipStream_t", hip_event_kind[] = "hipEvent_t";
static struct compute_stream* default_streams[MAX_GPUS];
static struct ihipStream_t* streams;

bool hip_stream(hipStream_t handle, struct compute_stream** stream) {
    if (handle) {
        if (!handle_is(handle, hip_stream_kind)) return false;
        *stream = handle->stream;
        return true;
    }
    struct compute_device* d = hip_device();
    if (!d) return false;
    if (!default_streams[d->index]) default_streams[d->index] = compute_open(d, NORMAL);
    *stream = default_streams[d->index];
    return *stream != NULL;
}

hipError_t hip_no_stream(hipStream_t handle) {
    return hip_result(handle ? hipErrorInvalidHandle : hip_device() ? hipErrorOutOfMemory : hipErrorNoDevice);
}

/* ---- capture ---- */

hipGraph_t hip_capturing(hipStream_t handle) { return handle ? handle->graph : NULL; }

void hip_begin_capture(hipStream_t stream) {
    static unsigned captures;
    stream->captures = true;
    stream->capture = ++captures;
}

void hip_end_capture(hipGraph_t graph) {
    for (struct ihipStream_t* s = streams; s; s = s->next)
        if (s->graph == graph) {
            s->graph = NULL;
            s->captures = false;
            s->capture = 0;
        }
}

/* The stream behind an event that was recorded in a capture that goes on. */
static struct ihipStream_t* captured(const struct ihipEvent_t* event) {
    struct ihipStream_t* s = event->capture ? streams : NULL;
    while (s && s->capture != event->capture) s = s->next;
    return s;
}

/* ---- order ---- */

static struct compute_event* pending(const struct compute_stream* s) {
    return s && s->tail && !s->tail->ended ? s->tail : NULL;
}

bool hip_begin(struct hip_order* order, hipStream_t handle, struct compute_stream* stream) {
    const struct compute_device* d = stream->device;
    unsigned count = 1;
    for (const struct ihipStream_t* s = streams; s; s = s->next) ++count;
    *order = (struct hip_order){.events = heap_allocate(count * sizeof *order->events)};
    if (!order->events) return false;
    count = 0;
    struct compute_event* e;
    if (handle) {
        if (handle->blocking && (e = pending(default_streams[d->index]))) order->events[count++] = e;
    } else {
        for (const struct ihipStream_t* s = streams; s; s = s->next)
            if (s->blocking && s->stream->device == d && (e = pending(s->stream))) order->events[count++] = e;
    }
    order->after = (struct compute_after){order->events, count, false};
    return true;
}

hipError_t hip_added(struct hip_order* order, struct compute_event* event, struct compute_stream* wait) {
    heap_free(order->events);
    if (!event) return hip_result(hipErrorOutOfMemory);
    if (wait) compute_wait(event);
    compute_release(event);
    return hip_result(wait ? hip_fault(compute_take_fault(wait)) : hipSuccess);
}

static hipError_t create(hipStream_t* handle, unsigned flags, unsigned priority) {
    if (!handle || flags > hipStreamNonBlocking) return hip_result(hipErrorInvalidValue);
    struct compute_device* d = hip_device();
    if (!d) return hip_result(hipErrorNoDevice);
    struct ihipStream_t* s = handle_create(hip_stream_kind, sizeof *s);
    if (s && !(s->stream = compute_open(d, priority))) {
        handle_destroy(s);
        s = NULL;
    }
    if (!s) return hip_result(hipErrorOutOfMemory);
    s->blocking = flags != hipStreamNonBlocking;
    s->next = streams;
    *handle = streams = s;
    return hipSuccess;
}

hipError_t hipStreamCreate(hipStream_t* handle) { return create(handle, hipStreamDefault, NORMAL); }

hipError_t hipStreamCreateWithFlags(hipStream_t* handle, unsigned int flags) { return create(handle, flags, NORMAL); }

/* Lower numbers are more important. */
hipError_t hipStreamCreateWithPriority(hipStream_t* handle, unsigned int flags, int priority) {
    return create(handle, flags, priority < 0 ? HIGH : priority > 0 ? LOW : NORMAL);
}

hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
    if (least) *least = 1;
    if (greatest) *greatest = -1;
    return hipSuccess;
}

hipError_t hipStreamDestroy(hipStream_t handle) {
    if (!handle_is(handle, hip_stream_kind)) return hip_result(hipErrorInvalidHandle);
    if (handle->captures) { /* what it has is of no use any more */
        const hipGraph_t graph = handle->graph;
        hip_end_capture(graph);
        hipGraphDestroy(graph);
    }
    struct ihipStream_t** at = &streams;
    while (*at != handle) at = &(*at)->next;
    *at = handle->next;
    compute_wait_stream(handle->stream);
    const unsigned fault = compute_take_fault(handle->stream);
    compute_close(handle->stream);
    handle_destroy(handle);
    return hip_result(hip_fault(fault));
}

hipError_t hipStreamSynchronize(hipStream_t handle) {
    struct compute_stream* s;
    if (!hip_stream(handle, &s)) return hip_no_stream(handle);
    if (hip_capturing(handle)) return hip_result(hipErrorStreamCaptureUnsupported);
    compute_wait_stream(s);
    return hip_result(hip_fault(compute_take_fault(s)));
}

hipError_t hipStreamQuery(hipStream_t handle) {
    struct compute_stream* s;
    if (!hip_stream(handle, &s)) return hip_no_stream(handle);
    if (hip_capturing(handle)) return hip_result(hipErrorStreamCaptureUnsupported);
    if (!compute_idle(s)) return hipErrorNotReady;
    return hip_result(hip_fault(compute_take_fault(s)));
}

hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t event, unsigned int flags) {
    struct compute_stream* s;
    struct hip_order order;
    if (!handle_is(event, hip_event_kind)) return hip_result(hipErrorInvalidHandle);
    if (!hip_stream(handle, &s)) return hip_no_stream(handle);
    if (flags) return hip_result(hipErrorInvalidValue);
    const struct ihipStream_t* other = captured(event);
    if (other) { /* the stream joins it; nodes are in order as they are */
        if (!handle || (handle->graph && handle->graph != other->graph))
            return hip_result(hipErrorStreamCaptureUnsupported);
        handle->graph = other->graph;
        handle->capture = other->capture;
        return hipSuccess;
    }
    if (!event->recorded || event->recorded->ended) return hipSuccess;
    if (!hip_begin(&order, handle, s)) return hip_result(hipErrorOutOfMemory);
    order.events[order.after.count++] = event->recorded;
    return hip_added(&order, compute_mark(s, order.after), NULL);
}

/* ---- functions of the host ---- */

struct host_function {
    hipHostFn_t function;         /* NULL: it is a callback */
    hipStreamCallback_t callback; /* gets the error of what stands before it */
    hipStream_t stream;
    void* data;
};

static void call(void* context, unsigned fault) {
    const struct host_function* f = context;
    if (f->callback)
        f->callback(f->stream, hip_fault(fault), f->data);
    else if (!fault)
        f->function(f->data);
    heap_free(context);
}

static hipError_t add_function(hipStream_t handle, struct host_function function) {
    struct compute_stream* s;
    struct hip_order order;
    if (!hip_stream(handle, &s)) return hip_no_stream(handle);
    if (hip_capturing(handle))
        return function.callback ? hip_result(hipErrorStreamCaptureUnsupported)
                                 : hip_capture_call(hip_capturing(handle), function.function, function.data);
    struct host_function* f = heap_allocate(sizeof *f);
    if (!f || !hip_begin(&order, handle, s)) {
        heap_free(f);
        return hip_result(hipErrorOutOfMemory);
    }
    *f = function;
    return hip_added(&order, compute_call(s, call, f, order.after), NULL);
}

hipError_t hipLaunchHostFunc(hipStream_t handle, hipHostFn_t function, void* data) {
    if (!function) return hip_result(hipErrorInvalidValue);
    return add_function(handle, (struct host_function){function, NULL, handle, data});
}

hipError_t hipStreamAddCallback(hipStream_t handle, hipStreamCallback_t callback, void* data, unsigned int flags) {
    if (!callback || flags) return hip_result(hipErrorInvalidValue);
    return add_function(handle, (struct host_function){NULL, callback, handle, data});
}

/* ---- events ---- */

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned int flags) {
    if (!event || flags & ~(unsigned)(hipEventBlockingSync | hipEventDisableTiming))
        return hip_result(hipErrorInvalidValue);
    *event = handle_create(hip_event_kind, sizeof **event);
    if (!*event) return hip_result(hipErrorOutOfMemory);
    (*event)->timed = !(flags & hipEventDisableTiming);
    (*event)->blocking = flags & hipEventBlockingSync;
    if ((*event)->blocking) compute_use_interrupts();
    return hipSuccess;
}

hipError_t hipEventCreate(hipEvent_t* event) { return hipEventCreateWithFlags(event, hipEventDefault); }

hipError_t hipEventDestroy(hipEvent_t event) {
    if (!handle_is(event, hip_event_kind)) return hip_result(hipErrorInvalidHandle);
    compute_release(event->recorded);
    handle_destroy(event);
    return hipSuccess;
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t handle) {
    struct compute_stream* s;
    struct hip_order order;
    if (!handle_is(event, hip_event_kind)) return hip_result(hipErrorInvalidHandle);
    if (!hip_stream(handle, &s)) return hip_no_stream(handle);
    if (hip_capturing(handle)) {
        event->capture = handle->capture;
        return hipSuccess;
    }
    if (!hip_begin(&order, handle, s)) return hip_result(hipErrorOutOfMemory);
    struct compute_event* mark = compute_mark(s, order.after);
    event->capture = 0;
    if (mark) {
        compute_release(event->recorded);
        compute_hold(event->recorded = mark);
    }
    return hip_added(&order, mark, NULL);
}

hipError_t hipEventQuery(hipEvent_t event) {
    if (!handle_is(event, hip_event_kind)) return hip_result(hipErrorInvalidHandle);
    compute_progress();
    if (event->recorded && !event->recorded->ended) return hipErrorNotReady;
    return hip_result(hip_fault(event->recorded ? event->recorded->fault : 0));
}

hipError_t hipEventSynchronize(hipEvent_t event) {
    if (!handle_is(event, hip_event_kind)) return hip_result(hipErrorInvalidHandle);
    if (event->recorded && event->blocking)
        compute_wait_as(event->recorded, COMPUTE_BLOCK);
    else if (event->recorded)
        compute_wait(event->recorded);
    return hip_result(hip_fault(event->recorded ? event->recorded->fault : 0));
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
    if (!milliseconds) return hip_result(hipErrorInvalidValue);
    if (!handle_is(start, hip_event_kind) || !handle_is(stop, hip_event_kind) || !start->recorded || !stop->recorded ||
        !start->timed || !stop->timed)
        return hip_result(hipErrorInvalidHandle);
    compute_progress();
    if (!start->recorded->ended || !stop->recorded->ended) return hip_result(hipErrorNotReady);
    *milliseconds = (float)((double)(int64_t)(stop->recorded->end_ns - start->recorded->end_ns) / 1e6);
    return hipSuccess;
}
