/* SPDX-License-Identifier: Apache-2.0 */
/* Programs and kernels. There is no compiler here: `fabricvp cc` makes the binaries. */
#include "lib/heap.h"
#include "runtime/opencl/opencl.h"

const char cl_program_kind[] = "cl_program", cl_kernel_kind[] = "cl_kernel", cl_function_kind[] = "kernel of a program";

cl_program clCreateProgramWithSource(cl_context c, cl_uint count, const char** texts, const size_t* lengths,
                                     cl_int* error) {
    (void)lengths;
    if (!handle_is(c, cl_context_kind)) return cl_created(NULL, CL_INVALID_CONTEXT, error);
    if (!count || !texts) return cl_created(NULL, CL_INVALID_VALUE, error);
    for (cl_uint i = 0; i < count; ++i)
        if (!texts[i]) return cl_created(NULL, CL_INVALID_VALUE, error);
    cl_program p = cl_create(cl_program_kind, sizeof *p);
    if (p) cl_retain(p->context = c);
    return cl_created(p, CL_OUT_OF_HOST_MEMORY, error);
}

/* A binary is kept, since programs may free theirs. */
static cl_int take_binary(cl_program p, cl_uint place, const unsigned char* binary, size_t bytes) {
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
                                                       : take_binary(p, place, binaries[i], lengths[i]);
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
    (void)options; /* they were given to `fabricvp cc` */
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
    if (from_source) return CL_COMPILER_NOT_AVAILABLE;
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
                                   : from_source                     ? CL_BUILD_ERROR
                                                                     : CL_BUILD_NONE;
    const char* log = from_source ? "there is no compiler here: fabricvp cc makes binaries" : "";
    switch (what) {
        case CL_PROGRAM_BUILD_STATUS: return cl_query(&status, sizeof status, room, value, bytes);
        case CL_PROGRAM_BUILD_OPTIONS: return cl_query("", 1, room, value, bytes);
        case CL_PROGRAM_BUILD_LOG: return cl_query(log, strlen(log) + 1, room, value, bytes);
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
    clReleaseContext(p->context);
    handle_destroy(p);
    return CL_SUCCESS;
}

/* ---- kernels ---- */

cl_kernel clCreateKernel(cl_program p, const char* name, cl_int* error) {
    struct compute_kernel* found[MAX_GPUS] = {NULL};
    const struct compute_kernel* any = NULL;
    if (!handle_is(p, cl_program_kind)) return cl_created(NULL, CL_INVALID_PROGRAM, error);
    if (!p->is_built) return cl_created(NULL, CL_INVALID_PROGRAM_EXECUTABLE, error);
    if (!name) return cl_created(NULL, CL_INVALID_VALUE, error);
    for (unsigned i = 0; i < MAX_GPUS; ++i) {
        if (p->built[i]) found[i] = compute_find_kernel(p->built[i], name, cl_function_kind);
        if (found[i] && !any) any = found[i];
    }
    if (!any) return cl_created(NULL, CL_INVALID_KERNEL_NAME, error);
    const uint32_t count = any->info->parameter_count;
    cl_kernel k = cl_create(cl_kernel_kind, sizeof *k + count * sizeof *k->arguments + any->info->argument_bytes);
    if (!k) return cl_created(NULL, CL_OUT_OF_HOST_MEMORY, error);
    memcpy(k->kernels, found, sizeof found);
    k->any = any;
    k->values = (uint8_t*)&k->arguments[count];
    cl_retain(k->program = p);
    return cl_created(k, 0, error);
}

cl_int clSetKernelArg(cl_kernel k, cl_uint index, size_t bytes, const void* value) {
    if (!handle_is(k, cl_kernel_kind)) return CL_INVALID_KERNEL;
    if (index >= k->any->info->parameter_count) return CL_INVALID_ARG_INDEX;
    const struct program_parameter* p = &k->any->parameters[index];
    struct cl_argument* a = &k->arguments[index];
    if (p->kind == PROGRAM_LOCAL) {
        if (value) return CL_INVALID_ARG_VALUE;
        if (!bytes) return CL_INVALID_ARG_SIZE;
        *a = (struct cl_argument){true, NULL, bytes};
        return CL_SUCCESS;
    }
    if (bytes != p->size) return CL_INVALID_ARG_SIZE;
    if (p->kind == PROGRAM_VALUE) {
        if (!value) return CL_INVALID_ARG_VALUE;
        memcpy(k->values + p->offset, value, bytes);
        *a = (struct cl_argument){.set = true};
        return CL_SUCCESS;
    }
    cl_mem buffer = NULL;
    if (value) memcpy(&buffer, value, sizeof buffer);
    if (buffer && !handle_is(buffer, cl_mem_kind)) return CL_INVALID_MEM_OBJECT;
    *a = (struct cl_argument){.set = true, .buffer = buffer};
    return CL_SUCCESS;
}

cl_int clGetKernelWorkGroupInfo(cl_kernel k, cl_device_id id, cl_kernel_work_group_info what, size_t room, void* value,
                                size_t* bytes) {
    if (!handle_is(k, cl_kernel_kind)) return CL_INVALID_KERNEL;
    if (id && (!cl_device(id) || cl_place(k->program->context, cl_device(id)) == k->program->context->device_count))
        return CL_INVALID_DEVICE;
    const struct program_kernel* info = k->any->info;
    size_t sizes[3] = {info->group[0], info->group[1], info->group[2]};
    const size_t most = info->max_group ? info->max_group : GPU_MAX_WORKGROUP_ITEMS, multiple = COMPUTE_WAVEFRONT;
    cl_ulong local = info->lds_bytes, private = info->stack_bytes;
    for (uint32_t i = 0; i < info->parameter_count; ++i) local += k->arguments[i].local_bytes;
    switch (what) {
        case CL_KERNEL_WORK_GROUP_SIZE: return cl_query(&most, sizeof most, room, value, bytes);
        case CL_KERNEL_COMPILE_WORK_GROUP_SIZE: return cl_query(sizes, sizeof sizes, room, value, bytes);
        case CL_KERNEL_LOCAL_MEM_SIZE: return cl_query(&local, sizeof local, room, value, bytes);
        case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
            return cl_query(&multiple, sizeof multiple, room, value, bytes);
        case CL_KERNEL_PRIVATE_MEM_SIZE: return cl_query(&private, sizeof private, room, value, bytes);
        default: return CL_INVALID_VALUE;
    }
}

cl_int clRetainKernel(cl_kernel k) {
    if (!handle_is(k, cl_kernel_kind)) return CL_INVALID_KERNEL;
    cl_retain(k);
    return CL_SUCCESS;
}

cl_int clReleaseKernel(cl_kernel k) {
    if (!handle_is(k, cl_kernel_kind)) return CL_INVALID_KERNEL;
    if (!cl_drop(&k->counted)) return CL_SUCCESS;
    clReleaseProgram(k->program);
    handle_destroy(k);
    return CL_SUCCESS;
}
