/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers, and parts of them. */
#include "lib/heap.h"
#include "runtime/opencl/opencl.h"

const char cl_mem_kind[] = "cl_mem";

static const cl_mem_flags access_flags = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
                          host_access_flags = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS,
                          place_flags = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

uint64_t cl_address(cl_mem b) { return b->memory->at + b->origin; }

static cl_int place(cl_mem b, struct compute_device* d) {
    if (b->memory) return CL_SUCCESS;
    b->memory = compute_allocate(d, b->bytes);
    if (!b->memory) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    unsigned fault = 0;
    if (b->contents) fault = gpu_copy_to(d->node, b->memory->at, b->contents, b->bytes);
    heap_free(b->contents);
    b->contents = NULL;
    return fault ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

cl_int cl_place_buffer(cl_mem b, struct compute_device* d) {
    const cl_int failure = place(b->whole ? b->whole : b, d);
    if (b->whole) b->memory = b->whole->memory;
    return failure;
}

cl_int cl_use_part(cl_command_queue q, cl_mem b, size_t offset, size_t bytes) {
    if (!handle_is(b, cl_mem_kind)) return CL_INVALID_MEM_OBJECT;
    if (b->context != q->context) return CL_INVALID_CONTEXT;
    if (!bytes || offset > b->bytes || bytes > b->bytes - offset) return CL_INVALID_VALUE;
    return cl_place_buffer(b, q->stream->device);
}

static bool at_most_one(cl_mem_flags flags) { return !(flags & (flags - 1)); }

static cl_int check_buffer(cl_context c, cl_mem_flags flags, size_t bytes, const void* host) {
    const bool has_contents = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
    if (!handle_is(c, cl_context_kind)) return CL_INVALID_CONTEXT;
    if (!at_most_one(flags & access_flags) || !at_most_one(flags & host_access_flags) ||
        flags & ~(access_flags | host_access_flags | place_flags) ||
        (flags & CL_MEM_USE_HOST_PTR && flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)))
        return CL_INVALID_VALUE;
    if (!bytes) return CL_INVALID_BUFFER_SIZE;
    for (cl_uint i = 0; i < c->device_count; ++i)
        if (bytes > c->devices[i]->gpu->memory_bytes) return CL_INVALID_BUFFER_SIZE;
    return !host == !has_contents ? CL_SUCCESS : CL_INVALID_HOST_PTR;
}

cl_mem clCreateBuffer(cl_context c, cl_mem_flags flags, size_t bytes, void* host, cl_int* error) {
    cl_int failure = check_buffer(c, flags, bytes, host);
    if (failure) return cl_created(NULL, failure, error);
    cl_mem b = cl_create(cl_mem_kind, sizeof *b);
    if (!b) return cl_created(NULL, CL_OUT_OF_HOST_MEMORY, error);
    b->flags = flags & access_flags ? flags : flags | CL_MEM_READ_WRITE;
    b->bytes = bytes;
    if (flags & CL_MEM_USE_HOST_PTR) b->host = host;
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

/* A part may narrow what kernels and host do with the whole, and never widen it. */
static cl_int check_part(cl_mem whole, cl_mem_flags flags, cl_buffer_create_type type, const cl_buffer_region* r) {
    if (!handle_is(whole, cl_mem_kind) || whole->whole) return CL_INVALID_MEM_OBJECT;
    const cl_mem_flags access = flags & access_flags, host = flags & host_access_flags, all = whole->flags;
    if (flags & ~(access_flags | host_access_flags) || !at_most_one(access) || !at_most_one(host) ||
        (access && all & (CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY) && !(all & access)) ||
        (host && host != CL_MEM_HOST_NO_ACCESS && all & host_access_flags && !(all & host)))
        return CL_INVALID_VALUE;
    if (type != CL_BUFFER_CREATE_TYPE_REGION || !r) return CL_INVALID_VALUE;
    if (!r->size) return CL_INVALID_BUFFER_SIZE;
    if (r->origin > whole->bytes || r->size > whole->bytes - r->origin) return CL_INVALID_VALUE;
    return r->origin % CL_PART_ALIGNMENT ? CL_MISALIGNED_SUB_BUFFER_OFFSET : CL_SUCCESS;
}

cl_mem clCreateSubBuffer(cl_mem whole, cl_mem_flags flags, cl_buffer_create_type type, const void* region,
                         cl_int* error) {
    const cl_buffer_region* r = region;
    const cl_int failure = check_part(whole, flags, type, r);
    if (failure) return cl_created(NULL, failure, error);
    cl_mem b = cl_create(cl_mem_kind, sizeof *b);
    if (!b) return cl_created(NULL, CL_OUT_OF_HOST_MEMORY, error);
    b->flags = (flags & access_flags ? flags & access_flags : whole->flags & access_flags) |
               (flags & host_access_flags ? flags & host_access_flags : whole->flags & host_access_flags) |
               (whole->flags & place_flags);
    b->bytes = r->size;
    b->origin = r->origin;
    b->host = whole->host ? whole->host + r->origin : NULL;
    b->memory = whole->memory;
    cl_retain(b->whole = whole);
    cl_retain(b->context = whole->context);
    return cl_created(b, 0, error);
}

cl_int clRetainMemObject(cl_mem b) {
    if (!handle_is(b, cl_mem_kind)) return CL_INVALID_MEM_OBJECT;
    cl_retain(b);
    return CL_SUCCESS;
}

/* Of functions, the one that was given last is called first. */
static void call_destructors(cl_mem b) {
    while (b->destructors) {
        struct cl_destructor* d = b->destructors;
        b->destructors = d->next;
        d->notify(b, d->user);
        heap_free(d);
    }
}

cl_int clReleaseMemObject(cl_mem b) {
    if (!handle_is(b, cl_mem_kind)) return CL_INVALID_MEM_OBJECT;
    if (!cl_drop(&b->counted)) return CL_SUCCESS;
    if (b->memory && !b->whole) compute_free(b->memory); /* when commands that use it have ended */
    for (cl_uint i = 0; b->mappings && b->whole && i < b->context->device_count; ++i)
        compute_wait_device(b->context->devices[i]);
    while (b->mappings) cl_drop_mapping(b, b->mappings);
    call_destructors(b);
    heap_free(b->contents);
    if (b->whole) clReleaseMemObject(b->whole);
    clReleaseContext(b->context);
    handle_destroy(b);
    return CL_SUCCESS;
}

cl_int clSetMemObjectDestructorCallback(cl_mem b, fabricvp_cl_mem_notify notify, void* user) {
    if (!handle_is(b, cl_mem_kind)) return CL_INVALID_MEM_OBJECT;
    if (!notify) return CL_INVALID_VALUE;
    struct cl_destructor* d = heap_allocate(sizeof *d);
    if (!d) return CL_OUT_OF_HOST_MEMORY;
    *d = (struct cl_destructor){notify, user, b->destructors};
    b->destructors = d;
    return CL_SUCCESS;
}

cl_int clGetMemObjectInfo(cl_mem b, cl_mem_info what, size_t room, void* value, size_t* bytes) {
    if (!handle_is(b, cl_mem_kind)) return CL_INVALID_MEM_OBJECT;
    cl_uint mapped = 0;
    for (const struct cl_mapping* m = b->mappings; m; m = m->next) ++mapped;
    switch (what) {
        case CL_MEM_TYPE: return cl_query_number(CL_MEM_OBJECT_BUFFER, cl_mem_object_type);
        case CL_MEM_FLAGS: return cl_query_number(b->flags, cl_mem_flags);
        case CL_MEM_SIZE: return cl_query_number(b->bytes, size_t);
        case CL_MEM_HOST_PTR: return cl_query(&b->host, sizeof b->host, room, value, bytes);
        case CL_MEM_MAP_COUNT: return cl_query_number(mapped, cl_uint);
        case CL_MEM_REFERENCE_COUNT: return cl_query_number(b->counted.references, cl_uint);
        case CL_MEM_CONTEXT: return cl_query_number(b->context, cl_context);
        case CL_MEM_ASSOCIATED_MEMOBJECT: return cl_query_number(b->whole, cl_mem);
        case CL_MEM_OFFSET: return cl_query_number(b->origin, size_t);
        default: return CL_INVALID_VALUE;
    }
}
