/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL 1.2 for host programs in C, with the names and values of the standard. docs/howto/host_programs.md lists what
 * differs. */
#ifndef FABRICVP_CL_H
#define FABRICVP_CL_H

#include "CL/cl_platform.h"
#include "CL/cl_values.h"

#define CL_VERSION_1_0 1
#define CL_VERSION_1_1 1
#define CL_VERSION_1_2 1
typedef struct _cl_platform_id* cl_platform_id;
typedef struct _cl_device_id* cl_device_id;
typedef struct _cl_context* cl_context;
typedef struct _cl_command_queue* cl_command_queue;
typedef struct _cl_mem* cl_mem;
typedef struct _cl_program* cl_program;
typedef struct _cl_kernel* cl_kernel;
typedef struct _cl_event* cl_event;
typedef struct _cl_sampler* cl_sampler;

typedef cl_uint cl_bool;
typedef cl_ulong cl_bitfield;
typedef cl_bitfield cl_device_type, cl_mem_flags, cl_command_queue_properties, cl_map_flags, cl_mem_migration_flags,
    cl_device_fp_config, cl_device_exec_capabilities, cl_device_affinity_domain, cl_kernel_arg_type_qualifier;
typedef cl_uint cl_platform_info, cl_device_info, cl_program_info, cl_program_build_info, cl_kernel_work_group_info,
    cl_event_info, cl_command_type, cl_profiling_info, cl_command_queue_info, cl_mem_info, cl_context_info,
    cl_kernel_info, cl_kernel_arg_info, cl_image_info, cl_sampler_info, cl_buffer_create_type, cl_mem_object_type,
    cl_addressing_mode, cl_filter_mode, cl_channel_order, cl_channel_type, cl_kernel_arg_address_qualifier,
    cl_kernel_arg_access_qualifier;
typedef cl_int cl_build_status;
typedef intptr_t cl_context_properties, cl_device_partition_property;

typedef struct {
    size_t origin, size;
} cl_buffer_region;
typedef struct {
    cl_channel_order image_channel_order;
    cl_channel_type image_channel_data_type;
} cl_image_format;
typedef struct {
    cl_mem_object_type image_type;
    size_t image_width, image_height, image_depth, image_array_size, image_row_pitch, image_slice_pitch;
    cl_uint num_mip_levels, num_samples;
    cl_mem buffer;
} cl_image_desc;

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*fabricvp_cl_context_notify)(const char* text, const void* data, size_t bytes, void* user);
typedef void (*fabricvp_cl_program_notify)(cl_program program, void* user);
typedef void (*fabricvp_cl_event_notify)(cl_event event, cl_int status, void* user);
typedef void (*fabricvp_cl_mem_notify)(cl_mem buffer, void* user);

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id* platforms, cl_uint* count);
cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void* value, size_t* bytes);
cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id* devices,
                      cl_uint* count);
cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void* value, size_t* bytes);
cl_int clCreateSubDevices(cl_device_id device, const cl_device_partition_property* properties, cl_uint room,
                          cl_device_id* devices, cl_uint* count);
cl_int clRetainDevice(cl_device_id device);
cl_int clReleaseDevice(cl_device_id device);
void* clGetExtensionFunctionAddress(const char* name);
void* clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char* name);

cl_context clCreateContext(const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
                           fabricvp_cl_context_notify notify, void* user, cl_int* error);
cl_context clCreateContextFromType(const cl_context_properties* properties, cl_device_type type,
                                   fabricvp_cl_context_notify notify, void* user, cl_int* error);
cl_int clRetainContext(cl_context context);
cl_int clReleaseContext(cl_context context);
cl_int clGetContextInfo(cl_context context, cl_context_info what, size_t room, void* value, size_t* bytes);
cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int* error);
cl_int clRetainCommandQueue(cl_command_queue queue);
cl_int clReleaseCommandQueue(cl_command_queue queue);
cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info what, size_t room, void* value,
                             size_t* bytes);
cl_int clSetCommandQueueProperty(cl_command_queue queue, cl_command_queue_properties properties, cl_bool enable,
                                 cl_command_queue_properties* old);

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void* host, cl_int* error);
cl_mem clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void* region,
                         cl_int* error);
cl_int clRetainMemObject(cl_mem buffer);
cl_int clReleaseMemObject(cl_mem buffer);
cl_int clGetMemObjectInfo(cl_mem buffer, cl_mem_info what, size_t room, void* value, size_t* bytes);
cl_int clSetMemObjectDestructorCallback(cl_mem buffer, fabricvp_cl_mem_notify notify, void* user);

cl_mem clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format* format, const cl_image_desc* image,
                     void* host, cl_int* error);
cl_mem clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format* format, size_t width,
                       size_t height, size_t pitch, void* host, cl_int* error);
cl_mem clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format* format, size_t width,
                       size_t height, size_t depth, size_t pitch, size_t slice_pitch, void* host, cl_int* error);
cl_int clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type type, cl_uint room,
                                  cl_image_format* formats, cl_uint* count);
cl_int clGetImageInfo(cl_mem image, cl_image_info what, size_t room, void* value, size_t* bytes);
cl_sampler clCreateSampler(cl_context context, cl_bool normalized, cl_addressing_mode addressing, cl_filter_mode filter,
                           cl_int* error);
cl_int clRetainSampler(cl_sampler sampler);
cl_int clReleaseSampler(cl_sampler sampler);
cl_int clGetSamplerInfo(cl_sampler sampler, cl_sampler_info what, size_t room, void* value, size_t* bytes);

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char** texts, const size_t* lengths,
                                     cl_int* error);
cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id* devices,
                                     const size_t* lengths, const unsigned char** binaries, cl_int* status,
                                     cl_int* error);
cl_program clCreateProgramWithBuiltInKernels(cl_context context, cl_uint count, const cl_device_id* devices,
                                             const char* names, cl_int* error);
cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                      fabricvp_cl_program_notify notify, void* user);
cl_int clCompileProgram(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                        cl_uint header_count, const cl_program* headers, const char** names,
                        fabricvp_cl_program_notify notify, void* user);
cl_program clLinkProgram(cl_context context, cl_uint count, const cl_device_id* devices, const char* options,
                         cl_uint program_count, const cl_program* programs, fabricvp_cl_program_notify notify,
                         void* user, cl_int* error);
cl_int clUnloadCompiler(void);
cl_int clUnloadPlatformCompiler(cl_platform_id platform);
cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t room, void* value, size_t* bytes);
cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, size_t room,
                             void* value, size_t* bytes);
cl_int clRetainProgram(cl_program program);
cl_int clReleaseProgram(cl_program program);

cl_kernel clCreateKernel(cl_program program, const char* name, cl_int* error);
cl_int clCreateKernelsInProgram(cl_program program, cl_uint room, cl_kernel* kernels, cl_uint* count);
cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void* value);
cl_int clGetKernelInfo(cl_kernel kernel, cl_kernel_info what, size_t room, void* value, size_t* bytes);
cl_int clGetKernelArgInfo(cl_kernel kernel, cl_uint index, cl_kernel_arg_info what, size_t room, void* value,
                          size_t* bytes);
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
cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t* origin,
                               const size_t* host_origin, const size_t* region, size_t row_pitch, size_t slice_pitch,
                               size_t host_row_pitch, size_t host_slice_pitch, void* to, cl_uint count,
                               const cl_event* after, cl_event* event);
cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t* origin,
                                const size_t* host_origin, const size_t* region, size_t row_pitch, size_t slice_pitch,
                                size_t host_row_pitch, size_t host_slice_pitch, const void* from, cl_uint count,
                                const cl_event* after, cl_event* event);
cl_int clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem to, const size_t* from_origin,
                               const size_t* to_origin, const size_t* region, size_t from_row_pitch,
                               size_t from_slice_pitch, size_t to_row_pitch, size_t to_slice_pitch, cl_uint count,
                               const cl_event* after, cl_event* event);
void* clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags, size_t offset,
                         size_t bytes, cl_uint count, const cl_event* after, cl_event* event, cl_int* error);
cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem buffer, void* mapped, cl_uint count,
                               const cl_event* after, cl_event* event);
cl_int clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint buffer_count, const cl_mem* buffers,
                                  cl_mem_migration_flags flags, cl_uint count, const cl_event* after, cl_event* event);
cl_int clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t* origin,
                          const size_t* region, size_t pitch, size_t slice_pitch, void* to, cl_uint count,
                          const cl_event* after, cl_event* event);
cl_int clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t* origin,
                           const size_t* region, size_t pitch, size_t slice_pitch, const void* from, cl_uint count,
                           const cl_event* after, cl_event* event);
cl_int clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to, const size_t* from_origin,
                          const size_t* to_origin, const size_t* region, cl_uint count, const cl_event* after,
                          cl_event* event);
cl_int clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem from, cl_mem to, const size_t* origin,
                                  const size_t* region, size_t offset, cl_uint count, const cl_event* after,
                                  cl_event* event);
cl_int clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem from, cl_mem to, size_t offset, const size_t* origin,
                                  const size_t* region, cl_uint count, const cl_event* after, cl_event* event);
cl_int clEnqueueFillImage(cl_command_queue queue, cl_mem image, const void* color, const size_t* origin,
                          const size_t* region, cl_uint count, const cl_event* after, cl_event* event);
void* clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
                        const size_t* origin, const size_t* region, size_t* pitch, size_t* slice_pitch, cl_uint count,
                        const cl_event* after, cl_event* event, cl_int* error);
cl_int clEnqueueNativeKernel(cl_command_queue queue, void (*function)(void*), void* arguments, size_t bytes,
                             cl_uint buffer_count, const cl_mem* buffers, const void** places, cl_uint count,
                             const cl_event* after, cl_event* event);
cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                              const size_t* global, const size_t* local, cl_uint count, const cl_event* after,
                              cl_event* event);
cl_int clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event* after, cl_event* event);
cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* after, cl_event* event);
cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* after, cl_event* event);
cl_int clEnqueueMarker(cl_command_queue queue, cl_event* event);
cl_int clEnqueueBarrier(cl_command_queue queue);
cl_int clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count, const cl_event* events);

cl_int clFlush(cl_command_queue queue);
cl_int clFinish(cl_command_queue queue);
cl_int clWaitForEvents(cl_uint count, const cl_event* events);
cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t room, void* value, size_t* bytes);
cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room, void* value, size_t* bytes);
cl_event clCreateUserEvent(cl_context context, cl_int* error);
cl_int clSetUserEventStatus(cl_event event, cl_int status);
cl_int clSetEventCallback(cl_event event, cl_int status, fabricvp_cl_event_notify notify, void* user);
cl_int clRetainEvent(cl_event event);
cl_int clReleaseEvent(cl_event event);

#ifdef __cplusplus
}
#endif

#endif
