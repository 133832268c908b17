/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, queues and buffers. */
#include "lib/heap.h"
#include "runtime/opencl/opencl.h"

enum { PRIORITY = 1 };

const char cl_context_kind[] = "cl_context", cl_queue_kind[] = "cl_command_queue", cl_mem_kind[] = "cl_mem";

cl_uint cl_place(cl_context c, const struct compute_device* d) {
    cl_uint i = 0;
    while (i < c->device_count && c->devices[i] != d) ++i;
    return i;
}

/* ---- contexts ---- */

static bool are_properties(const cl_context_properties* p) {
    for (; p && *p; p += 2)
        if (*p != CL_CONTEXT_PLATFORM) return false;
    return true;
}

/* Devices of a context share its buffers, so all reach each other. */
cl_context clCreateContext(const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
                           fabricvp_cl_context_notify notify, void* user, cl_int* error) {
    if (!are_properties(properties)) return cl_created(NULL, CL_INVALID_PROPERTY, error);
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

/* ---- buffers ---- */

cl_int cl_place_buffer(cl_mem b, struct compute_device* d) {
    if (b->memory) return CL_SUCCESS;
    b->memory = compute_allocate(d, b->bytes);
    if (!b->memory) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    unsigned fault = 0;
    if (b->contents) fault = gpu_copy_to(d->node, b->memory->at, b->contents, b->bytes);
    heap_free(b->contents);
    b->contents = NULL;
    return fault ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

static cl_int check_buffer(cl_context c, cl_mem_flags flags, size_t bytes, const void* host) {
    const cl_mem_flags access = flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY);
    if (!handle_is(c, cl_context_kind)) return CL_INVALID_CONTEXT;
    if (access & (access - 1) || flags & ~(cl_mem_flags)(CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY |
                                                         CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR))
        return CL_INVALID_VALUE; /* CL_MEM_USE_HOST_PTR is not there */
    if (!bytes) return CL_INVALID_BUFFER_SIZE;
    for (cl_uint i = 0; i < c->device_count; ++i)
        if (bytes > c->devices[i]->gpu->memory_bytes) return CL_INVALID_BUFFER_SIZE;
    return !host == !(flags & CL_MEM_COPY_HOST_PTR) ? CL_SUCCESS : CL_INVALID_HOST_PTR;
}

cl_mem clCreateBuffer(cl_context c, cl_mem_flags flags, size_t bytes, void* host, cl_int* error) {
    cl_int failure = check_buffer(c, flags, bytes, host);
    if (failure) return cl_created(NULL, failure, error);
    cl_mem b = cl_create(cl_mem_kind, sizeof *b);
    if (!b) return cl_created(NULL, CL_OUT_OF_HOST_MEMORY, error);
    b->flags = flags ? flags : CL_MEM_READ_WRITE;
    b->bytes = bytes;
    if (host) {
        b->contents = heap_allocate(bytes);
        if (!b->contents) failure = CL_OUT_OF_HOST_MEMORY;
        if (b->contents) memcpy(b->contents, host, bytes);
    }
    if (!failure && c->device_count == 1) failure = cl_place_buffer(b, c->devices[0]);
    if (failure) {
        if (b->memory) compute_free(b->memory);
        heap_free(b->contents);
        handle_destroy(b);
        return cl_created(NULL, failure, error);
    }
    cl_retain(b->context = c);
    return cl_created(b, 0, error);
}

cl_int clRetainMemObject(cl_mem b) {
    if (!handle_is(b, cl_mem_kind)) return CL_INVALID_MEM_OBJECT;
    cl_retain(b);
    return CL_SUCCESS;
}

cl_int clReleaseMemObject(cl_mem b) {
    if (!handle_is(b, cl_mem_kind)) return CL_INVALID_MEM_OBJECT;
    if (!cl_drop(&b->counted)) return CL_SUCCESS;
    if (b->memory) compute_free(b->memory); /* when commands that use it have ended */
    heap_free(b->contents);
    clReleaseContext(b->context);
    handle_destroy(b);
    return CL_SUCCESS;
}

cl_int clGetMemObjectInfo(cl_mem b, cl_mem_info what, size_t room, void* value, size_t* bytes) {
    if (!handle_is(b, cl_mem_kind)) return CL_INVALID_MEM_OBJECT;
    switch (what) {
        case CL_MEM_FLAGS: return cl_query(&b->flags, sizeof b->flags, room, value, bytes);
        case CL_MEM_SIZE: return cl_query(&b->bytes, sizeof b->bytes, room, value, bytes);
        default: return CL_INVALID_VALUE;
    }
}
