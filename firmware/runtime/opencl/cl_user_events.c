/* SPDX-License-Identifier: Apache-2.0 */
/* Events that the program itself ends, and functions that it has called when events end. No thread of the run-time's
 * calls them: they run in calls that wait or look. */
#include "lib/heap.h"
#include "runtime/opencl/opencl.h"

cl_event clCreateUserEvent(cl_context c, cl_int* error) {
    if (!handle_is(c, cl_context_kind)) return cl_created(NULL, CL_INVALID_CONTEXT, error);
    struct compute_event* own = heap_allocate(sizeof *own);
    cl_event e = own ? cl_create(cl_event_kind, sizeof *e) : NULL;
    if (!e) {
        heap_free(own);
        return cl_created(NULL, CL_OUT_OF_HOST_MEMORY, error);
    }
    *own = (struct compute_event){.holders = 1, .submitted = true, .queued_ns = compute_now_ns()};
    e->event = own;
    e->type = CL_COMMAND_USER;
    cl_retain(e->context = c);
    return cl_created(e, 0, error);
}

cl_int clSetUserEventStatus(cl_event e, cl_int status) {
    if (!handle_is(e, cl_event_kind) || e->queue) return CL_INVALID_EVENT;
    if (status > CL_COMPLETE) return CL_INVALID_VALUE;
    if (e->event->ended) return CL_INVALID_OPERATION;
    e->failure = status;
    e->event->fault = status ? GPU_FAULT_DEPENDENCY : 0;
    e->event->ended = true;
    e->event->start_ns = e->event->end_ns = compute_now_ns();
    compute_progress();
    cl_notify();
    return CL_SUCCESS;
}

/* ---- functions of the program's ---- */

struct callback {
    cl_event event;
    cl_int wanted;
    fabricvp_cl_event_notify notify;
    void* user;
    struct callback* next;
};
static struct callback* callbacks; /* in the order in which they were given */

cl_int clSetEventCallback(cl_event e, cl_int wanted, fabricvp_cl_event_notify notify, void* user) {
    if (!handle_is(e, cl_event_kind)) return CL_INVALID_EVENT;
    if (!notify || (wanted != CL_SUBMITTED && wanted != CL_RUNNING && wanted != CL_COMPLETE)) return CL_INVALID_VALUE;
    struct callback* c = heap_allocate(sizeof *c);
    if (!c) return CL_OUT_OF_HOST_MEMORY;
    *c = (struct callback){e, wanted, notify, user, NULL};
    cl_retain(e);
    struct callback** last = &callbacks;
    while (*last) last = &(*last)->next;
    *last = c;
    cl_notify();
    return CL_SUCCESS;
}

/* Values of the status fall until CL_COMPLETE, and are negative after a failure. */
void cl_notify(void) {
    for (struct callback** at = &callbacks; *at;) {
        struct callback* c = *at;
        const cl_int status = cl_status(c->event);
        if (status > c->wanted) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        c->notify(c->event, status < 0 ? status : c->wanted, c->user);
        clReleaseEvent(c->event);
        heap_free(c);
        at = &callbacks; /* the function may have given or taken others */
    }
}
