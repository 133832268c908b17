/* SPDX-License-Identifier: Apache-2.0 */
/* Programs. There is no compiler here: `fabricvp cc` makes the binaries. */
#include "lib/heap.h"
#include "runtime/opencl/opencl.h"

const char cl_program_kind[] = "cl_program";

static size_t text_bytes(const char* text, const size_t* lengths, cl_uint i) {
    return lengths && lengths[i] ? lengths[i] : strlen(text);
}

/* One text of all. */
static char* join(cl_uint count, const char** texts, const size_t* lengths) {
    size_t bytes = 0;
    for (cl_uint i = 0; i < count; ++i) bytes += text_bytes(texts[i], lengths, i);
    char *text = heap_allocate(bytes + 1), *at = text;
    if (!text) return NULL;
    for (cl_uint i = 0; i < count; ++i) {
        memcpy(at, texts[i], text_bytes(texts[i], lengths, i));
        at += text_bytes(texts[i], lengths, i);
    }
    *at = 0;
    return text;
}

cl_program clCreateProgramWithSource(cl_context c, cl_uint count, const char** texts, const size_t* lengths,
                                     cl_int* error) {
    if (!handle_is(c, cl_context_kind)) return cl_created(NULL, CL_INVALID_CONTEXT, error);
    if (!count || !texts) return cl_created(NULL, CL_INVALID_VALUE, error);
    for (cl_uint i = 0; i < count; ++i)
        if (!texts[i]) return cl_created(NULL, CL_INVALID_VALUE, error);
    cl_program p = cl_create(cl_program_kind, sizeof *p);
    char* source = p ? join(count, texts, lengths) : NULL;
    if (!source) {
        if (p) handle_destroy(p);
        return cl_created(NULL, CL_OUT_OF_HOST_MEMORY, error);
    }
    p->source = source;
    cl_retain(p->context = c);
    return cl_created(p, 0, error);
}

cl_program clCreateProgramWithBuiltInKernels(cl_context c, cl_uint count, const cl_device_id* devices,
                                             const char* names, cl_int* error) {
    (void)count, (void)devices, (void)names; /* devices have none (CL_DEVICE_BUILT_IN_KERNELS) */
    return cl_created(NULL, handle_is(c, cl_context_kind) ? CL_INVALID_VALUE : CL_INVALID_CONTEXT, error);
}

/* A binary is kept, since programs may free theirs. */
cl_int cl_take_binary(cl_program p, cl_uint place, const void* binary, size_t bytes) {
    struct program_record* record = compute_record(binary, bytes);
    if (!record) return CL_INVALID_BINARY;
    heap_free(record);
    p->elf[place] = heap_allocate(bytes);
    if (!p->elf[place]) return CL_OUT_OF_HOST_MEMORY;
    memcpy(p->elf[place], binary, bytes);
    p->elf_bytes[place] = bytes;
    return CL_SUCCESS;
}

cl_program clCreateProgramWithBinary(cl_context c, cl_uint count, const cl_device_id* devices, const size_t* lengths,
                                     const unsigned char** binaries, cl_int* status, cl_int* error) {
    if (!handle_is(c, cl_context_kind)) return cl_created(NULL, CL_INVALID_CONTEXT, error);
    if (!count || !devices || !lengths || !binaries) return cl_created(NULL, CL_INVALID_VALUE, error);
    for (cl_uint i = 0; i < count; ++i) {
        const struct compute_device* d = cl_device(devices[i]);
        if (!d || cl_place(c, d) == c->device_count) return cl_created(NULL, CL_INVALID_DEVICE, error);
    }
    cl_program p = cl_create(cl_program_kind, sizeof *p);
    if (!p) return cl_created(NULL, CL_OUT_OF_HOST_MEMORY, error);
    cl_retain(p->context = c);
    cl_int failure = CL_SUCCESS;
    for (cl_uint i = 0; i < count; ++i) {
        const cl_uint place = cl_place(c, cl_device(devices[i]));
        const cl_int own = !binaries[i] || !lengths[i] ? CL_INVALID_VALUE
                           : p->elf[place]             ? CL_SUCCESS
                                                       : cl_take_binary(p, place, binaries[i], lengths[i]);
        if (status) status[i] = own;
        if (own && !failure) failure = own;
    }
    if (failure) {
        clReleaseProgram(p);
        p = NULL;
    }
    return cl_created(p, failure, error);
}

cl_int clBuildProgram(cl_program p, cl_uint count, const cl_device_id* devices, const char* options,
                      fabricvp_cl_program_notify notify, void* user) {
    if (!handle_is(p, cl_program_kind)) return CL_INVALID_PROGRAM;
    if (!devices != !count || (!notify && user)) return CL_INVALID_VALUE;
    const cl_context c = p->context;
    bool from_source = true;
    for (cl_uint i = 0; i < c->device_count; ++i) from_source &= !p->elf[i];
    for (cl_uint i = 0; i < count; ++i) {
        const struct compute_device* d = cl_device(devices[i]);
        if (!d || cl_place(c, d) == c->device_count) return CL_INVALID_DEVICE;
        if (!from_source && !p->elf[cl_place(c, d)]) return CL_INVALID_BINARY;
    }
    const cl_int failure = from_source ? cl_find_image(p, options) : CL_SUCCESS; /* its options are `fabricvp cc`'s */
    if (failure) return failure;
    for (cl_uint place = 0; place < c->device_count; ++place) {
        bool wanted = p->elf[place] && !p->built[place] && !count;
        for (cl_uint i = 0; i < count; ++i) wanted |= !p->built[place] && cl_place(c, cl_device(devices[i])) == place;
        if (!wanted) continue;
        p->built[place] = compute_load(c->devices[place], p->elf[place], p->elf_bytes[place]);
        if (!p->built[place]) return CL_OUT_OF_RESOURCES;
    }
    p->is_built = true;
    if (notify) notify(p, user);
    return CL_SUCCESS;
}

cl_int clGetProgramBuildInfo(cl_program p, cl_device_id id, cl_program_build_info what, size_t room, void* value,
                             size_t* bytes) {
    if (!handle_is(p, cl_program_kind)) return CL_INVALID_PROGRAM;
    const struct compute_device* d = cl_device(id);
    if (!d || cl_place(p->context, d) == p->context->device_count) return CL_INVALID_DEVICE;
    const bool from_source = !p->elf[cl_place(p->context, d)];
    const cl_build_status status = p->built[cl_place(p->context, d)] ? CL_BUILD_SUCCESS
                                   : from_source && p->log           ? CL_BUILD_ERROR
                                                                     : CL_BUILD_NONE;
    switch (what) {
        case CL_PROGRAM_BUILD_STATUS: return cl_query(&status, sizeof status, room, value, bytes);
        case CL_PROGRAM_BUILD_OPTIONS: return cl_query("", 1, room, value, bytes);
        case CL_PROGRAM_BUILD_LOG: return cl_query_text(p->log ? p->log : "", room, value, bytes);
        case CL_PROGRAM_BINARY_TYPE:
            return cl_query_number(status ? CL_PROGRAM_BINARY_TYPE_NONE : CL_PROGRAM_BINARY_TYPE_EXECUTABLE, cl_uint);
        default: return CL_INVALID_VALUE;
    }
}

cl_int clRetainProgram(cl_program p) {
    if (!handle_is(p, cl_program_kind)) return CL_INVALID_PROGRAM;
    cl_retain(p);
    return CL_SUCCESS;
}

cl_int clReleaseProgram(cl_program p) {
    if (!handle_is(p, cl_program_kind)) return CL_INVALID_PROGRAM;
    if (!cl_drop(&p->counted)) return CL_SUCCESS;
    for (unsigned i = 0; i < MAX_GPUS; ++i) {
        if (p->built[i]) compute_unload(p->built[i]);
        heap_free(p->elf[i]);
    }
    heap_free(p->source);
    clReleaseContext(p->context);
    handle_destroy(p);
    return CL_SUCCESS;
}

/* ---- what needs a compiler ---- */

cl_int clCompileProgram(cl_program p, cl_uint count, const cl_device_id* devices, const char* options,
                        cl_uint header_count, const cl_program* headers, const char** names,
                        fabricvp_cl_program_notify notify, void* user) {
    (void)count, (void)devices, (void)options, (void)header_count, (void)headers, (void)names;
    (void)notify, (void)user;
    return handle_is(p, cl_program_kind) ? CL_COMPILER_NOT_AVAILABLE : CL_INVALID_PROGRAM;
}

cl_program clLinkProgram(cl_context c, cl_uint count, const cl_device_id* devices, const char* options,
                         cl_uint program_count, const cl_program* programs, fabricvp_cl_program_notify notify,
                         void* user, cl_int* error) {
    (void)count, (void)devices, (void)options, (void)program_count, (void)programs, (void)notify, (void)user;
    return cl_created(NULL, handle_is(c, cl_context_kind) ? CL_LINKER_NOT_AVAILABLE : CL_INVALID_CONTEXT, error);
}

cl_int clUnloadCompiler(void) { return CL_SUCCESS; }

cl_int clUnloadPlatformCompiler(cl_platform_id platform) {
    return clGetPlatformInfo(platform, CL_PLATFORM_NAME, 0, NULL, NULL) ? CL_INVALID_PLATFORM : CL_SUCCESS;
}
