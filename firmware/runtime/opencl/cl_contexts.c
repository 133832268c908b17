/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts and queues. */
#include "runtime/opencl/opencl.h"

enum { PRIORITY = 1 };

const char cl_context_kind[] = "cl_context", cl_queue_kind[] = "cl_command_queue";

cl_uint cl_place(cl_context c, const struct compute_device* d) {
    cl_uint i = 0;
    while (i < c->device_count && c->devices[i] != d) ++i;
    return i;
}

/* ---- contexts ---- */

/* The platform may be named, and is none if it is not ours. */
static cl_int check_properties(const cl_context_properties* p, cl_platform_id* platform) {
    for (*platform = NULL; p && *p; p += 2) {
        if (*p != CL_CONTEXT_PLATFORM || *platform) return CL_INVALID_PROPERTY;
        *platform = (cl_platform_id)p[1];
        if (!*platform || clGetPlatformInfo(*platform, CL_PLATFORM_NAME, 0, NULL, NULL)) return CL_INVALID_PLATFORM;
    }
    return CL_SUCCESS;
}

/* Devices of a context share its buffers, so all reach each other. */
cl_context clCreateContext(const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
                           fabricvp_cl_context_notify notify, void* user, cl_int* error) {
    cl_platform_id platform;
    const cl_int failure = check_properties(properties, &platform);
    if (failure) return cl_created(NULL, failure, error);
    if (!count || !devices || (!notify && user)) return cl_created(NULL, CL_INVALID_VALUE, error);
    for (cl_uint i = 0; i < count; ++i) {
        if (!cl_device(devices[i])) return cl_created(NULL, CL_INVALID_DEVICE, error);
        if (!compute_reaches(cl_device(devices[0]), cl_device(devices[i])))
            return cl_created(NULL, CL_DEVICE_NOT_AVAILABLE, error);
    }
    cl_context c = cl_create(cl_context_kind, sizeof *c);
    for (cl_uint i = 0; c && i < count; ++i) {
        const cl_uint place = cl_place(c, cl_device(devices[i]));
        c->devices[place] = cl_device(devices[i]);
        if (place == c->device_count) ++c->device_count;
    }
    if (c) c->platform = platform;
    return cl_created(c, CL_OUT_OF_HOST_MEMORY, error);
}

cl_context clCreateContextFromType(const cl_context_properties* properties, cl_device_type type,
                                   fabricvp_cl_context_notify notify, void* user, cl_int* error) {
    cl_device_id devices[MAX_GPUS];
    cl_uint count = 0, together = 0;
    const cl_int failure = clGetDeviceIDs(NULL, type, MAX_GPUS, devices, &count);
    if (failure) return cl_created(NULL, failure, error);
    while (together < count && compute_reaches(cl_device(devices[0]), cl_device(devices[together]))) ++together;
    return clCreateContext(properties, together, devices, notify, user, error);
}

cl_int clRetainContext(cl_context c) {
    if (!handle_is(c, cl_context_kind)) return CL_INVALID_CONTEXT;
    cl_retain(c);
    return CL_SUCCESS;
}

cl_int clReleaseContext(cl_context c) {
    if (!handle_is(c, cl_context_kind)) return CL_INVALID_CONTEXT;
    if (cl_drop(&c->counted)) handle_destroy(c);
    return CL_SUCCESS;
}

cl_int clGetContextInfo(cl_context c, cl_context_info what, size_t room, void* value, size_t* bytes) {
    if (!handle_is(c, cl_context_kind)) return CL_INVALID_CONTEXT;
    cl_device_id devices[MAX_GPUS];
    const cl_context_properties properties[3] = {CL_CONTEXT_PLATFORM, (cl_context_properties)c->platform, 0};
    for (cl_uint i = 0; i < c->device_count; ++i) devices[i] = cl_device_identifier(c->devices[i]);
    switch (what) {
        case CL_CONTEXT_REFERENCE_COUNT: return cl_query_number(c->counted.references, cl_uint);
        case CL_CONTEXT_NUM_DEVICES: return cl_query_number(c->device_count, cl_uint);
        case CL_CONTEXT_DEVICES: return cl_query(devices, c->device_count * sizeof *devices, room, value, bytes);
        case CL_CONTEXT_PROPERTIES:
            return cl_query(properties, c->platform ? sizeof properties : 0, room, value, bytes);
        default: return CL_INVALID_VALUE;
    }
}

/* ---- queues ---- */

cl_command_queue clCreateCommandQueue(cl_context c, cl_device_id id, cl_command_queue_properties properties,
                                      cl_int* error) {
    struct compute_device* d = cl_device(id);
    if (!handle_is(c, cl_context_kind)) return cl_created(NULL, CL_INVALID_CONTEXT, error);
    if (!d || cl_place(c, d) == c->device_count) return cl_created(NULL, CL_INVALID_DEVICE, error);
    if (properties & ~(cl_command_queue_properties)(CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
        return cl_created(NULL, CL_INVALID_VALUE, error);
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        return cl_created(NULL, CL_INVALID_QUEUE_PROPERTIES, error);
    cl_command_queue q = cl_create(cl_queue_kind, sizeof *q);
    if (!q) return cl_created(NULL, CL_OUT_OF_HOST_MEMORY, error);
    q->stream = compute_open(d, PRIORITY);
    if (!q->stream) {
        handle_destroy(q);
        return cl_created(NULL, CL_OUT_OF_RESOURCES, error);
    }
    cl_retain(q->context = c);
    q->profiled = properties & CL_QUEUE_PROFILING_ENABLE;
    return cl_created(q, 0, error);
}

cl_int clRetainCommandQueue(cl_command_queue q) {
    if (!handle_is(q, cl_queue_kind)) return CL_INVALID_COMMAND_QUEUE;
    cl_retain(q);
    return CL_SUCCESS;
}

cl_int clReleaseCommandQueue(cl_command_queue q) {
    if (!handle_is(q, cl_queue_kind)) return CL_INVALID_COMMAND_QUEUE;
    if (!cl_drop(&q->counted)) return CL_SUCCESS;
    compute_close(q->stream);
    clReleaseContext(q->context);
    handle_destroy(q);
    return CL_SUCCESS;
}

cl_int clGetCommandQueueInfo(cl_command_queue q, cl_command_queue_info what, size_t room, void* value, size_t* bytes) {
    if (!handle_is(q, cl_queue_kind)) return CL_INVALID_COMMAND_QUEUE;
    switch (what) {
        case CL_QUEUE_CONTEXT: return cl_query_number(q->context, cl_context);
        case CL_QUEUE_DEVICE: return cl_query_number(cl_device_identifier(q->stream->device), cl_device_id);
        case CL_QUEUE_REFERENCE_COUNT: return cl_query_number(q->counted.references, cl_uint);
        case CL_QUEUE_PROPERTIES:
            return cl_query_number(q->profiled ? CL_QUEUE_PROFILING_ENABLE : 0, cl_command_queue_properties);
        default: return CL_INVALID_VALUE;
    }
}

/* Of OpenCL 1.0; from 1.1 on, properties stay as they are. */
cl_int clSetCommandQueueProperty(cl_command_queue q, cl_command_queue_properties properties, cl_bool enable,
                                 cl_command_queue_properties* old) {
    (void)properties, (void)enable, (void)old;
    return handle_is(q, cl_queue_kind) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}
