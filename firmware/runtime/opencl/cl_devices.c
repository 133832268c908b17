/* SPDX-License-Identifier: Apache-2.0 */
/* The platform and its devices. */
#include "runtime/opencl/opencl.h"

struct _cl_platform_id {
    const char* name;
};
struct _cl_device_id {
    struct compute_device* device;
};

static struct _cl_platform_id platform = {"FabricVP"};
static struct _cl_device_id identifiers[MAX_GPUS];

cl_device_id cl_device_identifier(const struct compute_device* d) {
    identifiers[d->index].device = compute_device(d->index);
    return &identifiers[d->index];
}

struct compute_device* cl_device(cl_device_id id) {
    for (unsigned i = 0; i < compute_device_count(); ++i)
        if (id == &identifiers[i]) return compute_device(i);
    return NULL;
}

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id* platforms, cl_uint* count) {
    if ((!platforms && !count) || (platforms && !room)) return CL_INVALID_VALUE;
    if (count) *count = 1;
    if (platforms) platforms[0] = &platform;
    return CL_SUCCESS;
}

static cl_int query_text(const char* text, size_t room, void* value, size_t* bytes) {
    return cl_query(text, strlen(text) + 1, room, value, bytes);
}

cl_int clGetPlatformInfo(cl_platform_id p, cl_platform_info what, size_t room, void* value, size_t* bytes) {
    if (p && p != &platform) return CL_INVALID_PLATFORM;
    switch (what) {
        case CL_PLATFORM_PROFILE: return query_text("FULL_PROFILE", room, value, bytes);
        case CL_PLATFORM_VERSION: return query_text("OpenCL 1.2 FabricVP", room, value, bytes);
        case CL_PLATFORM_NAME: return query_text(platform.name, room, value, bytes);
        case CL_PLATFORM_VENDOR: return query_text("FabricVP", room, value, bytes);
        case CL_PLATFORM_EXTENSIONS: return query_text("", room, value, bytes);
        default: return CL_INVALID_VALUE;
    }
}

cl_int clGetDeviceIDs(cl_platform_id p, cl_device_type type, cl_uint room, cl_device_id* devices, cl_uint* count) {
    const cl_device_type known =
        CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR;
    if (p && p != &platform) return CL_INVALID_PLATFORM;
    if (!type || (type != CL_DEVICE_TYPE_ALL && type & ~known)) return CL_INVALID_DEVICE_TYPE;
    if ((!devices && !count) || (devices && !room)) return CL_INVALID_VALUE;
    unsigned there = type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT) ? compute_device_count() : 0;
    if (!(type & CL_DEVICE_TYPE_GPU) && there > 1) there = 1; /* of the default there is one */
    if (count) *count = there;
    for (unsigned i = 0; devices && i < there && i < room; ++i) devices[i] = cl_device_identifier(compute_device(i));
    return there ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

#define NUMBER(type, number)                                           \
    do {                                                               \
        const type number_ = (type)(number);                           \
        return cl_query(&number_, sizeof number_, room, value, bytes); \
    } while (0)

cl_int clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t room, void* value, size_t* bytes) {
    const struct compute_device* d = cl_device(id);
    if (!d) return CL_INVALID_DEVICE;
    const struct gpu* g = d->gpu;
    static const size_t sizes[3] = {GPU_MAX_WORKGROUP_ITEMS, GPU_MAX_WORKGROUP_ITEMS, GPU_MAX_WORKGROUP_ITEMS};
    switch (what) {
        case CL_DEVICE_TYPE: NUMBER(cl_device_type, CL_DEVICE_TYPE_GPU);
        case CL_DEVICE_VENDOR_ID: NUMBER(cl_uint, GPU_VENDOR);
        case CL_DEVICE_MAX_COMPUTE_UNITS: NUMBER(cl_uint, g->compute_units);
        case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS: NUMBER(cl_uint, 3);
        case CL_DEVICE_MAX_WORK_GROUP_SIZE: NUMBER(size_t, GPU_MAX_WORKGROUP_ITEMS);
        case CL_DEVICE_MAX_WORK_ITEM_SIZES: return cl_query(sizes, sizeof sizes, room, value, bytes);
        case CL_DEVICE_MAX_CLOCK_FREQUENCY: NUMBER(cl_uint, g->clock / 1000000);
        case CL_DEVICE_ADDRESS_BITS: NUMBER(cl_uint, 64);
        case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        case CL_DEVICE_GLOBAL_MEM_SIZE: NUMBER(cl_ulong, g->memory_bytes);
        case CL_DEVICE_IMAGE_SUPPORT: NUMBER(cl_bool, CL_FALSE);
        case CL_DEVICE_MAX_PARAMETER_SIZE: NUMBER(size_t, GPU_LARGE_KERNARG_BYTES);
        case CL_DEVICE_MEM_BASE_ADDR_ALIGN: NUMBER(cl_uint, 8 * GPU_PAGE);
        case CL_DEVICE_LOCAL_MEM_TYPE: NUMBER(cl_uint, CL_LOCAL);
        case CL_DEVICE_LOCAL_MEM_SIZE: NUMBER(cl_ulong, g->lds_bytes);
        case CL_DEVICE_GLOBAL_MEM_CACHE_TYPE: NUMBER(cl_uint, CL_READ_WRITE_CACHE);
        case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE: NUMBER(cl_ulong, g->l2_bytes);
        case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE: NUMBER(cl_uint, COMPUTE_LINE_BYTES);
        case CL_DEVICE_PROFILING_TIMER_RESOLUTION: NUMBER(size_t, 1);
        case CL_DEVICE_ENDIAN_LITTLE:
        case CL_DEVICE_AVAILABLE: NUMBER(cl_bool, CL_TRUE);
        case CL_DEVICE_COMPILER_AVAILABLE: NUMBER(cl_bool, CL_FALSE);
        case CL_DEVICE_QUEUE_PROPERTIES: NUMBER(cl_command_queue_properties, CL_QUEUE_PROFILING_ENABLE);
        case CL_DEVICE_HOST_UNIFIED_MEMORY: NUMBER(cl_bool, g->shared != 0);
        case CL_DEVICE_PLATFORM: NUMBER(cl_platform_id, &platform);
        case CL_DEVICE_NAME: return query_text("FabricVP GPU", room, value, bytes);
        case CL_DEVICE_VENDOR: return query_text("FabricVP", room, value, bytes);
        case CL_DRIVER_VERSION: return query_text("1.0", room, value, bytes);
        case CL_DEVICE_PROFILE: return query_text("FULL_PROFILE", room, value, bytes);
        case CL_DEVICE_VERSION: return query_text("OpenCL 1.2 FabricVP", room, value, bytes);
        case CL_DEVICE_EXTENSIONS: return query_text("cl_khr_fp64", room, value, bytes);
        case CL_DEVICE_OPENCL_C_VERSION: return query_text("OpenCL C 1.2", room, value, bytes);
        default: return CL_INVALID_VALUE;
    }
}
