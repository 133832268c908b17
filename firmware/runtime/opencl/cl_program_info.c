/* SPDX-License-Identifier: Apache-2.0 */
/* What programs tell of themselves. */
#include "lib/heap.h"
#include "runtime/opencl/opencl.h"

const struct program_record* cl_program_record(cl_program p) {
    for (unsigned i = 0; i < MAX_GPUS; ++i)
        if (p->built[i]) return p->built[i]->record;
    return NULL;
}

/* Names of all kernels, with ';' between. */
static cl_int query_names(const struct program_record* r, size_t room, void* value, size_t* bytes) {
    const struct program_kernel* info = (const void*)((const uint8_t*)r + r->kernels);
    size_t length = 0;
    for (uint32_t i = 0; i < r->kernel_count; ++i) length += strlen(compute_text(r, info[i].name)) + 1;
    char *text = heap_allocate(length + 1), *at = text;
    if (!text) return CL_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < r->kernel_count; ++i) {
        const char* name = compute_text(r, info[i].name);
        if (i) *at++ = ';';
        memcpy(at, name, strlen(name));
        at += strlen(name);
    }
    *at = 0;
    const cl_int failure = cl_query_text(text, room, value, bytes);
    heap_free(text);
    return failure;
}

/* Binaries go where the program's own pointers lead. */
static cl_int query_binaries(cl_program p, size_t room, void* value, size_t* bytes) {
    const cl_uint count = p->context->device_count;
    unsigned char** places = value;
    if (bytes) *bytes = count * sizeof *places;
    if (!value) return CL_SUCCESS;
    if (room < count * sizeof *places) return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; ++i)
        if (places[i] && p->elf[i]) memcpy(places[i], p->elf[i], p->elf_bytes[i]);
    return CL_SUCCESS;
}

cl_int clGetProgramInfo(cl_program p, cl_program_info what, size_t room, void* value, size_t* bytes) {
    if (!handle_is(p, cl_program_kind)) return CL_INVALID_PROGRAM;
    const cl_context c = p->context;
    cl_device_id devices[MAX_GPUS];
    size_t sizes[MAX_GPUS];
    for (cl_uint i = 0; i < c->device_count; ++i) {
        devices[i] = cl_device_identifier(c->devices[i]);
        sizes[i] = p->elf_bytes[i];
    }
    const struct program_record* r = cl_program_record(p);
    switch (what) {
        case CL_PROGRAM_REFERENCE_COUNT: return cl_query_number(p->counted.references, cl_uint);
        case CL_PROGRAM_CONTEXT: return cl_query_number(c, cl_context);
        case CL_PROGRAM_NUM_DEVICES: return cl_query_number(c->device_count, cl_uint);
        case CL_PROGRAM_DEVICES: return cl_query(devices, c->device_count * sizeof *devices, room, value, bytes);
        case CL_PROGRAM_SOURCE: return cl_query_text(p->source ? p->source : "", room, value, bytes);
        case CL_PROGRAM_BINARY_SIZES: return cl_query(sizes, c->device_count * sizeof *sizes, room, value, bytes);
        case CL_PROGRAM_BINARIES: return query_binaries(p, room, value, bytes);
        case CL_PROGRAM_NUM_KERNELS:
            return r ? cl_query_number(r->kernel_count, size_t) : CL_INVALID_PROGRAM_EXECUTABLE;
        case CL_PROGRAM_KERNEL_NAMES: return r ? query_names(r, room, value, bytes) : CL_INVALID_PROGRAM_EXECUTABLE;
        default: return CL_INVALID_VALUE;
    }
}
