/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of devices that are those of the lanes and the run-time, whatever the machine. */
#include "runtime/opencl/opencl.h"

enum { PRINTF_BYTES = 1 << 20 };

cl_int cl_query_fixed(const struct compute_device* d, cl_device_info what, size_t room, void* value, size_t* bytes) {
    const cl_device_fp_config numbers =
        CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA;
    switch (what) {
        /* A lane computes with single numbers. */
        case CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR:
        case CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT:
        case CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT:
        case CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG:
        case CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT:
        case CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE:
        case CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR:
        case CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT:
        case CL_DEVICE_NATIVE_VECTOR_WIDTH_INT:
        case CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG:
        case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
        case CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE: return cl_query_number(1, cl_uint);
        case CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF:
        case CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF: return cl_query_number(0, cl_uint);
        case CL_DEVICE_SINGLE_FP_CONFIG:
            return cl_query_number(numbers | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, cl_device_fp_config);
        case CL_DEVICE_DOUBLE_FP_CONFIG: return cl_query_number(numbers, cl_device_fp_config);
        /* Constants lie in global memory. */
        case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE: return cl_query_number(d->gpu->memory_bytes, cl_ulong);
        case CL_DEVICE_MAX_CONSTANT_ARGS: return cl_query_number(GPU_LARGE_KERNARG_BYTES / 8, cl_uint);
        case CL_DEVICE_ERROR_CORRECTION_SUPPORT:
        case CL_DEVICE_LINKER_AVAILABLE: return cl_query_number(CL_FALSE, cl_bool);
        case CL_DEVICE_PREFERRED_INTEROP_USER_SYNC: return cl_query_number(CL_TRUE, cl_bool);
        case CL_DEVICE_EXECUTION_CAPABILITIES: return cl_query_number(CL_EXEC_KERNEL, cl_device_exec_capabilities);
        case CL_DEVICE_BUILT_IN_KERNELS: return cl_query_text("", room, value, bytes);
        case CL_DEVICE_PRINTF_BUFFER_SIZE: return cl_query_number(PRINTF_BYTES, size_t);
        /* There are no images. */
        case CL_DEVICE_MAX_READ_IMAGE_ARGS:
        case CL_DEVICE_MAX_WRITE_IMAGE_ARGS:
        case CL_DEVICE_MAX_SAMPLERS: return cl_query_number(0, cl_uint);
        case CL_DEVICE_IMAGE2D_MAX_WIDTH:
        case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
        case CL_DEVICE_IMAGE3D_MAX_WIDTH:
        case CL_DEVICE_IMAGE3D_MAX_HEIGHT:
        case CL_DEVICE_IMAGE3D_MAX_DEPTH:
        case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE:
        case CL_DEVICE_IMAGE_MAX_ARRAY_SIZE: return cl_query_number(0, size_t);
        /* Nor parts of devices. */
        case CL_DEVICE_PARENT_DEVICE: return cl_query_number(NULL, cl_device_id);
        case CL_DEVICE_PARTITION_MAX_SUB_DEVICES: return cl_query_number(0, cl_uint);
        case CL_DEVICE_PARTITION_PROPERTIES: return cl_query_number(0, cl_device_partition_property);
        case CL_DEVICE_PARTITION_AFFINITY_DOMAIN: return cl_query_number(0, cl_device_affinity_domain);
        case CL_DEVICE_PARTITION_TYPE: return cl_query(NULL, 0, room, NULL, bytes);
        case CL_DEVICE_REFERENCE_COUNT: return cl_query_number(1, cl_uint);
        default: return CL_INVALID_VALUE;
    }
}
