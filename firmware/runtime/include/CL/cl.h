/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL 1.2 for host programs on bare metal, in C: the calls that are there, with the names and values of the
 * standard. docs/howto/host_programs.md lists what differs. */
#ifndef FABRICVP_CL_H
#define FABRICVP_CL_H

#include <stddef.h>
#include <stdint.h>

#define CL_VERSION_1_0 1
#define CL_VERSION_1_1 1
#define CL_VERSION_1_2 1
#define CL_CALLBACK
#define CL_API_CALL
#define CL_API_ENTRY

typedef int8_t cl_char;
typedef uint8_t cl_uchar;
typedef int16_t cl_short;
typedef uint16_t cl_ushort;
typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef int64_t cl_long;
typedef uint64_t cl_ulong;
typedef uint16_t cl_half;
typedef float cl_float;
typedef double cl_double;

/* Vectors: `s` has the elements. */
#define FABRICVP_CL_VECTOR(type, n)                                        \
    typedef union {                                                        \
        cl_##type s[n];                                                    \
        uint8_t aligned __attribute__((aligned(sizeof(cl_##type) * (n)))); \
    } cl_##type##n;
#define FABRICVP_CL_VECTORS(type) \
    FABRICVP_CL_VECTOR(type, 2)   \
    FABRICVP_CL_VECTOR(type, 4)   \
    FABRICVP_CL_VECTOR(type, 8)   \
    FABRICVP_CL_VECTOR(type, 16)  \
    typedef cl_##type##4 cl_##type##3;
FABRICVP_CL_VECTORS(char)
FABRICVP_CL_VECTORS(uchar)
FABRICVP_CL_VECTORS(short)
FABRICVP_CL_VECTORS(ushort)
FABRICVP_CL_VECTORS(int)
FABRICVP_CL_VECTORS(uint)
FABRICVP_CL_VECTORS(long)
FABRICVP_CL_VECTORS(ulong)
FABRICVP_CL_VECTORS(float)
FABRICVP_CL_VECTORS(double)

typedef struct _cl_platform_id* cl_platform_id;
typedef struct _cl_device_id* cl_device_id;
typedef struct _cl_context* cl_context;
typedef struct _cl_command_queue* cl_command_queue;
typedef struct _cl_mem* cl_mem;
typedef struct _cl_program* cl_program;
typedef struct _cl_kernel* cl_kernel;
typedef struct _cl_event* cl_event;

typedef cl_uint cl_bool;
typedef cl_ulong cl_bitfield;
typedef cl_bitfield cl_device_type, cl_mem_flags, cl_command_queue_properties;
typedef cl_uint cl_platform_info, cl_device_info, cl_program_info, cl_program_build_info, cl_kernel_work_group_info,
    cl_event_info, cl_command_type, cl_profiling_info, cl_command_queue_info, cl_mem_info;
typedef cl_int cl_build_status;
typedef intptr_t cl_context_properties;

enum { CL_FALSE = 0, CL_TRUE = 1, CL_NON_BLOCKING = 0, CL_BLOCKING = 1 };

/* Errors. */
enum {
    CL_SUCCESS = 0,
    CL_DEVICE_NOT_FOUND = -1,
    CL_DEVICE_NOT_AVAILABLE = -2,
    CL_COMPILER_NOT_AVAILABLE = -3,
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    CL_OUT_OF_RESOURCES = -5,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_PROFILING_INFO_NOT_AVAILABLE = -7,
    CL_MEM_COPY_OVERLAP = -8,
    CL_BUILD_PROGRAM_FAILURE = -11,
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST = -14,
    CL_INVALID_VALUE = -30,
    CL_INVALID_DEVICE_TYPE = -31,
    CL_INVALID_PLATFORM = -32,
    CL_INVALID_DEVICE = -33,
    CL_INVALID_CONTEXT = -34,
    CL_INVALID_QUEUE_PROPERTIES = -35,
    CL_INVALID_COMMAND_QUEUE = -36,
    CL_INVALID_HOST_PTR = -37,
    CL_INVALID_MEM_OBJECT = -38,
    CL_INVALID_BINARY = -42,
    CL_INVALID_BUILD_OPTIONS = -43,
    CL_INVALID_PROGRAM = -44,
    CL_INVALID_PROGRAM_EXECUTABLE = -45,
    CL_INVALID_KERNEL_NAME = -46,
    CL_INVALID_KERNEL = -48,
    CL_INVALID_ARG_INDEX = -49,
    CL_INVALID_ARG_VALUE = -50,
    CL_INVALID_ARG_SIZE = -51,
    CL_INVALID_KERNEL_ARGS = -52,
    CL_INVALID_WORK_DIMENSION = -53,
    CL_INVALID_WORK_GROUP_SIZE = -54,
    CL_INVALID_WORK_ITEM_SIZE = -55,
    CL_INVALID_GLOBAL_OFFSET = -56,
    CL_INVALID_EVENT_WAIT_LIST = -57,
    CL_INVALID_EVENT = -58,
    CL_INVALID_OPERATION = -59,
    CL_INVALID_BUFFER_SIZE = -61,
    CL_INVALID_GLOBAL_WORK_SIZE = -63,
    CL_INVALID_PROPERTY = -64
};

enum {
    CL_PLATFORM_PROFILE = 0x0900,
    CL_PLATFORM_VERSION,
    CL_PLATFORM_NAME,
    CL_PLATFORM_VENDOR,
    CL_PLATFORM_EXTENSIONS
};

#define CL_DEVICE_TYPE_DEFAULT (1 << 0)
#define CL_DEVICE_TYPE_CPU (1 << 1)
#define CL_DEVICE_TYPE_GPU (1 << 2)
#define CL_DEVICE_TYPE_ACCELERATOR (1 << 3)
#define CL_DEVICE_TYPE_ALL 0xffffffff

enum {
    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_VENDOR_ID = 0x1001,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS = 0x1003,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_MAX_WORK_ITEM_SIZES = 0x1005,
    CL_DEVICE_MAX_CLOCK_FREQUENCY = 0x100c,
    CL_DEVICE_ADDRESS_BITS = 0x100d,
    CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    CL_DEVICE_IMAGE_SUPPORT = 0x1016,
    CL_DEVICE_MAX_PARAMETER_SIZE = 0x1017,
    CL_DEVICE_MEM_BASE_ADDR_ALIGN = 0x1019,
    CL_DEVICE_GLOBAL_MEM_CACHE_TYPE = 0x101c,
    CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE = 0x101d,
    CL_DEVICE_GLOBAL_MEM_CACHE_SIZE = 0x101e,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101f,
    CL_DEVICE_LOCAL_MEM_TYPE = 0x1022,
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    CL_DEVICE_PROFILING_TIMER_RESOLUTION = 0x1025,
    CL_DEVICE_ENDIAN_LITTLE = 0x1026,
    CL_DEVICE_AVAILABLE = 0x1027,
    CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    CL_DEVICE_QUEUE_PROPERTIES = 0x102a,
    CL_DEVICE_NAME = 0x102b,
    CL_DEVICE_VENDOR = 0x102c,
    CL_DRIVER_VERSION = 0x102d,
    CL_DEVICE_PROFILE = 0x102e,
    CL_DEVICE_VERSION = 0x102f,
    CL_DEVICE_EXTENSIONS = 0x1030,
    CL_DEVICE_PLATFORM = 0x1031,
    CL_DEVICE_HOST_UNIFIED_MEMORY = 0x1035,
    CL_DEVICE_OPENCL_C_VERSION = 0x103d
};
enum { CL_LOCAL = 1, CL_GLOBAL = 2 };
enum { CL_NONE = 0, CL_READ_ONLY_CACHE = 1, CL_READ_WRITE_CACHE = 2 };
enum { CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE = 1 << 0, CL_QUEUE_PROFILING_ENABLE = 1 << 1 };
enum { CL_CONTEXT_PLATFORM = 0x1084 };
enum {
    CL_MEM_READ_WRITE = 1 << 0,
    CL_MEM_WRITE_ONLY = 1 << 1,
    CL_MEM_READ_ONLY = 1 << 2,
    CL_MEM_USE_HOST_PTR = 1 << 3,
    CL_MEM_ALLOC_HOST_PTR = 1 << 4,
    CL_MEM_COPY_HOST_PTR = 1 << 5
};
enum { CL_MEM_FLAGS = 0x1101, CL_MEM_SIZE = 0x1102 };
enum { CL_PROGRAM_BUILD_STATUS = 0x1181, CL_PROGRAM_BUILD_OPTIONS = 0x1182, CL_PROGRAM_BUILD_LOG = 0x1183 };
enum { CL_BUILD_SUCCESS = 0, CL_BUILD_NONE = -1, CL_BUILD_ERROR = -2, CL_BUILD_IN_PROGRESS = -3 };
enum {
    CL_KERNEL_WORK_GROUP_SIZE = 0x11b0,
    CL_KERNEL_COMPILE_WORK_GROUP_SIZE = 0x11b1,
    CL_KERNEL_LOCAL_MEM_SIZE = 0x11b2,
    CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE = 0x11b3,
    CL_KERNEL_PRIVATE_MEM_SIZE = 0x11b4
};
enum {
    CL_EVENT_COMMAND_QUEUE = 0x11d0,
    CL_EVENT_COMMAND_TYPE,
    CL_EVENT_REFERENCE_COUNT,
    CL_EVENT_COMMAND_EXECUTION_STATUS
};
enum {
    CL_COMMAND_NDRANGE_KERNEL = 0x11f0,
    CL_COMMAND_READ_BUFFER = 0x11f3,
    CL_COMMAND_WRITE_BUFFER = 0x11f4,
    CL_COMMAND_COPY_BUFFER = 0x11f5,
    CL_COMMAND_MARKER = 0x11fe,
    CL_COMMAND_FILL_BUFFER = 0x1207
};
enum { CL_COMPLETE = 0, CL_RUNNING = 1, CL_SUBMITTED = 2, CL_QUEUED = 3 };
enum {
    CL_PROFILING_COMMAND_QUEUED = 0x1280,
    CL_PROFILING_COMMAND_SUBMIT,
    CL_PROFILING_COMMAND_START,
    CL_PROFILING_COMMAND_END
};

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*fabricvp_cl_context_notify)(const char* text, const void* data, size_t bytes, void* user);
typedef void (*fabricvp_cl_program_notify)(cl_program program, void* user);

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id* platforms, cl_uint* count);
cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void* value, size_t* bytes);
cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id* devices,
                      cl_uint* count);
cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void* value, size_t* bytes);

cl_context clCreateContext(const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
                           fabricvp_cl_context_notify notify, void* user, cl_int* error);
cl_context clCreateContextFromType(const cl_context_properties* properties, cl_device_type type,
                                   fabricvp_cl_context_notify notify, void* user, cl_int* error);
cl_int clRetainContext(cl_context context);
cl_int clReleaseContext(cl_context context);
cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int* error);
cl_int clRetainCommandQueue(cl_command_queue queue);
cl_int clReleaseCommandQueue(cl_command_queue queue);

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void* host, cl_int* error);
cl_int clRetainMemObject(cl_mem buffer);
cl_int clReleaseMemObject(cl_mem buffer);
cl_int clGetMemObjectInfo(cl_mem buffer, cl_mem_info what, size_t room, void* value, size_t* bytes);

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char** texts, const size_t* lengths,
                                     cl_int* error);
cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id* devices,
                                     const size_t* lengths, const unsigned char** binaries, cl_int* status,
                                     cl_int* error);
cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                      fabricvp_cl_program_notify notify, void* user);
cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, size_t room,
                             void* value, size_t* bytes);
cl_int clRetainProgram(cl_program program);
cl_int clReleaseProgram(cl_program program);

cl_kernel clCreateKernel(cl_program program, const char* name, cl_int* error);
cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void* value);
cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t room,
                                void* value, size_t* bytes);
cl_int clRetainKernel(cl_kernel kernel);
cl_int clReleaseKernel(cl_kernel kernel);

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes,
                           void* to, cl_uint count, const cl_event* after, cl_event* event);
cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes,
                            const void* from, cl_uint count, const cl_event* after, cl_event* event);
cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                           size_t bytes, cl_uint count, const cl_event* after, cl_event* event);
cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern, size_t pattern_bytes,
                           size_t offset, size_t bytes, cl_uint count, const cl_event* after, cl_event* event);
cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                              const size_t* global, const size_t* local, cl_uint count, const cl_event* after,
                              cl_event* event);
cl_int clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event* after, cl_event* event);
cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* after, cl_event* event);
cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* after, cl_event* event);

cl_int clFlush(cl_command_queue queue);
cl_int clFinish(cl_command_queue queue);
cl_int clWaitForEvents(cl_uint count, const cl_event* events);
cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t room, void* value, size_t* bytes);
cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room, void* value, size_t* bytes);
cl_int clRetainEvent(cl_event event);
cl_int clReleaseEvent(cl_event event);

#ifdef __cplusplus
}
#endif

#endif
