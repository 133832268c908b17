/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and their arguments. */
#include "runtime/opencl/opencl.h"

const char cl_kernel_kind[] = "cl_kernel", cl_function_kind[] = "kernel of a program";

static const char* text_of(cl_kernel k, uint32_t offset) { return compute_text(k->any->program->record, offset); }

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

cl_int clCreateKernelsInProgram(cl_program p, cl_uint room, cl_kernel* kernels, cl_uint* count) {
    if (!handle_is(p, cl_program_kind)) return CL_INVALID_PROGRAM;
    if (!p->is_built) return CL_INVALID_PROGRAM_EXECUTABLE;
    const struct program_record* r = cl_program_record(p);
    if (kernels && room < r->kernel_count) return CL_INVALID_VALUE;
    if (count) *count = r->kernel_count;
    const struct program_kernel* info = (const void*)((const uint8_t*)r + r->kernels);
    for (uint32_t i = 0; kernels && i < r->kernel_count; ++i) {
        cl_int failure;
        kernels[i] = clCreateKernel(p, compute_text(r, info[i].function), &failure);
        if (kernels[i]) continue;
        while (i) clReleaseKernel(kernels[--i]);
        return failure;
    }
    return CL_SUCCESS;
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

cl_int clGetKernelInfo(cl_kernel k, cl_kernel_info what, size_t room, void* value, size_t* bytes) {
    if (!handle_is(k, cl_kernel_kind)) return CL_INVALID_KERNEL;
    switch (what) {
        case CL_KERNEL_FUNCTION_NAME: return cl_query_text(text_of(k, k->any->info->name), room, value, bytes);
        case CL_KERNEL_NUM_ARGS: return cl_query_number(k->any->info->parameter_count, cl_uint);
        case CL_KERNEL_REFERENCE_COUNT: return cl_query_number(k->counted.references, cl_uint);
        case CL_KERNEL_CONTEXT: return cl_query_number(k->program->context, cl_context);
        case CL_KERNEL_PROGRAM: return cl_query_number(k->program, cl_program);
        case CL_KERNEL_ATTRIBUTES: return cl_query_text("", room, value, bytes);
        default: return CL_INVALID_VALUE;
    }
}

static const cl_uint address_spaces[] = {
    [PROGRAM_VALUE] = CL_KERNEL_ARG_ADDRESS_PRIVATE,
    [PROGRAM_GLOBAL] = CL_KERNEL_ARG_ADDRESS_GLOBAL,
    [PROGRAM_CONSTANT] = CL_KERNEL_ARG_ADDRESS_CONSTANT,
    [PROGRAM_LOCAL] = CL_KERNEL_ARG_ADDRESS_LOCAL,
};

cl_int clGetKernelArgInfo(cl_kernel k, cl_uint index, cl_kernel_arg_info what, size_t room, void* value,
                          size_t* bytes) {
    if (!handle_is(k, cl_kernel_kind)) return CL_INVALID_KERNEL;
    if (index >= k->any->info->parameter_count) return CL_INVALID_ARG_INDEX;
    const struct program_parameter* p = &k->any->parameters[index];
    switch (what) {
        case CL_KERNEL_ARG_ADDRESS_QUALIFIER: return cl_query_number(address_spaces[p->kind & 3], cl_uint);
        case CL_KERNEL_ARG_ACCESS_QUALIFIER: return cl_query_number(CL_KERNEL_ARG_ACCESS_NONE, cl_uint);
        case CL_KERNEL_ARG_TYPE_NAME: return cl_query_text(text_of(k, p->type), room, value, bytes);
        case CL_KERNEL_ARG_TYPE_QUALIFIER:
            return cl_query_number(p->constant ? CL_KERNEL_ARG_TYPE_CONST : CL_KERNEL_ARG_TYPE_NONE,
                                   cl_kernel_arg_type_qualifier);
        case CL_KERNEL_ARG_NAME: return cl_query_text(text_of(k, p->name), room, value, bytes);
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
