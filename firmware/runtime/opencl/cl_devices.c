/* SPDX-License-Identifier: Apache-2.0 */
/* The platform and its devices. */
#include "runtime/opencl/extensions.h"
#include "runtime/opencl/opencl.h"
#include "runtime/sources.h"

struct _cl_platform_id {
    const void* dispatch;
    const char* name;
};
struct _cl_device_id {
    const void* dispatch;
    struct compute_device* device;
};

const void* cl_dispatch;
static void* loader_entry;
static struct _cl_platform_id platform = {NULL, "FabricVP"};
static struct _cl_device_id identifiers[MAX_GPUS];

void cl_serve_loader(const void* dispatch, void* get_platforms) {
    platform.dispatch = cl_dispatch = dispatch;
    loader_entry = get_platforms;
    for (unsigned i = 0; i < MAX_GPUS; ++i) identifiers[i].dispatch = dispatch;
}

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

cl_int clGetPlatformInfo(cl_platform_id p, cl_platform_info what, size_t room, void* value, size_t* bytes) {
    if (p && p != &platform) return CL_INVALID_PLATFORM;
    switch (what) {
        case CL_PLATFORM_PROFILE: return cl_query_text("FULL_PROFILE", room, value, bytes);
        case CL_PLATFORM_VERSION: return cl_query_text("OpenCL 1.2 FabricVP", room, value, bytes);
        case CL_PLATFORM_NAME: return cl_query_text(platform.name, room, value, bytes);
        case CL_PLATFORM_VENDOR: return cl_query_text("FabricVP", room, value, bytes);
        case CL_PLATFORM_EXTENSIONS: return cl_query_text(cl_dispatch ? "cl_khr_icd" : "", room, value, bytes);
        case CL_PLATFORM_ICD_SUFFIX_KHR:
            return cl_dispatch ? cl_query_text("FABRICVP", room, value, bytes) : CL_INVALID_VALUE;
        default: return CL_INVALID_VALUE;
    }
}

cl_int clGetDeviceIDs(cl_platform_id p, cl_device_type type, cl_uint room, cl_device_id* devices, cl_uint* count) {
    const cl_device_type known = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                 CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
    if (p && p != &platform) return CL_INVALID_PLATFORM;
    if (!type || (type != CL_DEVICE_TYPE_ALL && type & ~known)) return CL_INVALID_DEVICE_TYPE;
    if ((!devices && !count) || (devices && !room)) return CL_INVALID_VALUE;
    unsigned there = type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT) ? compute_device_count() : 0;
    if (!(type & CL_DEVICE_TYPE_GPU) && there > 1) there = 1; /* of the default there is one */
    if (count) *count = there;
    for (unsigned i = 0; devices && i < there && i < room; ++i) devices[i] = cl_device_identifier(compute_device(i));
    return there ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

cl_int clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t room, void* value, size_t* bytes) {
    const struct compute_device* d = cl_device(id);
    if (!d) return CL_INVALID_DEVICE;
    const struct gpu* g = d->gpu;
    static const size_t sizes[3] = {GPU_MAX_WORKGROUP_ITEMS, GPU_MAX_WORKGROUP_ITEMS, GPU_MAX_WORKGROUP_ITEMS};
    switch (what) {
        case CL_DEVICE_TYPE: return cl_query_number(CL_DEVICE_TYPE_GPU, cl_device_type);
        case CL_DEVICE_VENDOR_ID: return cl_query_number(GPU_VENDOR, cl_uint);
        case CL_DEVICE_MAX_COMPUTE_UNITS: return cl_query_number(g->compute_units, cl_uint);
        case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS: return cl_query_number(3, cl_uint);
        case CL_DEVICE_MAX_WORK_GROUP_SIZE: return cl_query_number(GPU_MAX_WORKGROUP_ITEMS, size_t);
        case CL_DEVICE_MAX_WORK_ITEM_SIZES: return cl_query(sizes, sizeof sizes, room, value, bytes);
        case CL_DEVICE_MAX_CLOCK_FREQUENCY: return cl_query_number(g->clock / 1000000, cl_uint);
        case CL_DEVICE_ADDRESS_BITS: return cl_query_number(64, cl_uint);
        case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        case CL_DEVICE_GLOBAL_MEM_SIZE: return cl_query_number(g->memory_bytes, cl_ulong);
        case CL_DEVICE_IMAGE_SUPPORT: return cl_query_number(CL_FALSE, cl_bool);
        case CL_DEVICE_MAX_PARAMETER_SIZE: return cl_query_number(GPU_LARGE_KERNARG_BYTES, size_t);
        case CL_DEVICE_MEM_BASE_ADDR_ALIGN: return cl_query_number(8 * CL_PART_ALIGNMENT, cl_uint);
        case CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE: return cl_query_number(CL_PART_ALIGNMENT, cl_uint);
        case CL_DEVICE_LOCAL_MEM_TYPE: return cl_query_number(CL_LOCAL, cl_uint);
        case CL_DEVICE_LOCAL_MEM_SIZE: return cl_query_number(g->lds_bytes, cl_ulong);
        case CL_DEVICE_GLOBAL_MEM_CACHE_TYPE: return cl_query_number(CL_READ_WRITE_CACHE, cl_uint);
        case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE: return cl_query_number(g->l2_bytes, cl_ulong);
        case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE: return cl_query_number(COMPUTE_LINE_BYTES, cl_uint);
        case CL_DEVICE_PROFILING_TIMER_RESOLUTION: return cl_query_number(1, size_t);
        case CL_DEVICE_ENDIAN_LITTLE:
        case CL_DEVICE_AVAILABLE: return cl_query_number(CL_TRUE, cl_bool);
        case CL_DEVICE_COMPILER_AVAILABLE: return cl_query_number(source_images() != NULL, cl_bool);
        case CL_DEVICE_QUEUE_PROPERTIES: return cl_query_number(CL_QUEUE_PROFILING_ENABLE, cl_command_queue_properties);
        case CL_DEVICE_HOST_UNIFIED_MEMORY: return cl_query_number(g->shared != 0, cl_bool);
        case CL_DEVICE_PLATFORM: return cl_query_number(&platform, cl_platform_id);
        case CL_DEVICE_NAME: return cl_query_text("FabricVP GPU", room, value, bytes);
        case CL_DEVICE_VENDOR: return cl_query_text("FabricVP", room, value, bytes);
        case CL_DRIVER_VERSION: return cl_query_text("1.0", room, value, bytes);
        case CL_DEVICE_PROFILE: return cl_query_text("FULL_PROFILE", room, value, bytes);
        case CL_DEVICE_VERSION: return cl_query_text("OpenCL 1.2 FabricVP", room, value, bytes);
        case CL_DEVICE_EXTENSIONS: return cl_query_text(OPENCL_EXTENSIONS, room, value, bytes);
        case CL_DEVICE_OPENCL_C_VERSION: return cl_query_text("OpenCL C 1.2", room, value, bytes);
        default: return cl_query_fixed(d, what, room, value, bytes);
    }
}

/* A compute unit is no device of its own. */
cl_int clCreateSubDevices(cl_device_id id, const cl_device_partition_property* properties, cl_uint room,
                          cl_device_id* devices, cl_uint* count) {
    (void)properties, (void)room, (void)devices, (void)count;
    return cl_device(id) ? CL_INVALID_VALUE : CL_INVALID_DEVICE;
}

/* Devices are not counted unless they are parts of others. */
cl_int clRetainDevice(cl_device_id id) { return cl_device(id) ? CL_SUCCESS : CL_INVALID_DEVICE; }

cl_int clReleaseDevice(cl_device_id id) { return clRetainDevice(id); }

void* clGetExtensionFunctionAddress(const char* name) {
    return loader_entry && name && strcmp(name, "clIcdGetPlatformIDsKHR") == 0 ? loader_entry : NULL;
}

void* clGetExtensionFunctionAddressForPlatform(cl_platform_id p, const char* name) {
    return p == &platform ? clGetExtensionFunctionAddress(name) : NULL;
}
