/* SPDX-License-Identifier: Apache-2.0 */
/* Images and samplers, which the GPUs do not have (CL_DEVICE_IMAGE_SUPPORT): there is no object of them, and the calls
 * say so. */
#include "runtime/opencl/opencl.h"

static void* no_object(cl_context c, cl_int* error) {
    return cl_created(NULL, handle_is(c, cl_context_kind) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT, error);
}

static cl_int no_command(cl_command_queue q) {
    return handle_is(q, cl_queue_kind) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}

cl_mem clCreateImage(cl_context c, cl_mem_flags flags, const cl_image_format* format, const cl_image_desc* image,
                     void* host, cl_int* error) {
    (void)flags, (void)format, (void)image, (void)host;
    return no_object(c, error);
}

cl_mem clCreateImage2D(cl_context c, cl_mem_flags flags, const cl_image_format* format, size_t width, size_t height,
                       size_t pitch, void* host, cl_int* error) {
    (void)flags, (void)format, (void)width, (void)height, (void)pitch, (void)host;
    return no_object(c, error);
}

cl_mem clCreateImage3D(cl_context c, cl_mem_flags flags, const cl_image_format* format, size_t width, size_t height,
                       size_t depth, size_t pitch, size_t slice_pitch, void* host, cl_int* error) {
    (void)flags, (void)format, (void)width, (void)height, (void)depth, (void)pitch, (void)slice_pitch, (void)host;
    return no_object(c, error);
}

cl_int clGetSupportedImageFormats(cl_context c, cl_mem_flags flags, cl_mem_object_type type, cl_uint room,
                                  cl_image_format* formats, cl_uint* count) {
    (void)flags, (void)type;
    if (!handle_is(c, cl_context_kind)) return CL_INVALID_CONTEXT;
    if (formats && !room) return CL_INVALID_VALUE;
    if (count) *count = 0;
    return CL_SUCCESS;
}

cl_int clGetImageInfo(cl_mem image, cl_image_info what, size_t room, void* value, size_t* bytes) {
    (void)image, (void)what, (void)room, (void)value, (void)bytes;
    return CL_INVALID_MEM_OBJECT;
}

cl_sampler clCreateSampler(cl_context c, cl_bool normalized, cl_addressing_mode addressing, cl_filter_mode filter,
                           cl_int* error) {
    (void)normalized, (void)addressing, (void)filter;
    return no_object(c, error);
}

cl_int clRetainSampler(cl_sampler sampler) {
    (void)sampler;
    return CL_INVALID_SAMPLER;
}

cl_int clReleaseSampler(cl_sampler sampler) {
    (void)sampler;
    return CL_INVALID_SAMPLER;
}

cl_int clGetSamplerInfo(cl_sampler sampler, cl_sampler_info what, size_t room, void* value, size_t* bytes) {
    (void)sampler, (void)what, (void)room, (void)value, (void)bytes;
    return CL_INVALID_SAMPLER;
}

cl_int clEnqueueReadImage(cl_command_queue q, cl_mem image, cl_bool blocking, const size_t* origin,
                          const size_t* region, size_t pitch, size_t slice_pitch, void* to, cl_uint count,
                          const cl_event* after, cl_event* event) {
    (void)image, (void)blocking, (void)origin, (void)region, (void)pitch, (void)slice_pitch, (void)to;
    (void)count, (void)after, (void)event;
    return no_command(q);
}

cl_int clEnqueueWriteImage(cl_command_queue q, cl_mem image, cl_bool blocking, const size_t* origin,
                           const size_t* region, size_t pitch, size_t slice_pitch, const void* from, cl_uint count,
                           const cl_event* after, cl_event* event) {
    (void)image, (void)blocking, (void)origin, (void)region, (void)pitch, (void)slice_pitch, (void)from;
    (void)count, (void)after, (void)event;
    return no_command(q);
}

cl_int clEnqueueCopyImage(cl_command_queue q, cl_mem from, cl_mem to, const size_t* from_origin,
                          const size_t* to_origin, const size_t* region, cl_uint count, const cl_event* after,
                          cl_event* event) {
    (void)from, (void)to, (void)from_origin, (void)to_origin, (void)region, (void)count, (void)after, (void)event;
    return no_command(q);
}

cl_int clEnqueueCopyImageToBuffer(cl_command_queue q, cl_mem from, cl_mem to, const size_t* origin,
                                  const size_t* region, size_t offset, cl_uint count, const cl_event* after,
                                  cl_event* event) {
    (void)from, (void)to, (void)origin, (void)region, (void)offset, (void)count, (void)after, (void)event;
    return no_command(q);
}

cl_int clEnqueueCopyBufferToImage(cl_command_queue q, cl_mem from, cl_mem to, size_t offset, const size_t* origin,
                                  const size_t* region, cl_uint count, const cl_event* after, cl_event* event) {
    (void)from, (void)to, (void)offset, (void)origin, (void)region, (void)count, (void)after, (void)event;
    return no_command(q);
}

cl_int clEnqueueFillImage(cl_command_queue q, cl_mem image, const void* color, const size_t* origin,
                          const size_t* region, cl_uint count, const cl_event* after, cl_event* event) {
    (void)image, (void)color, (void)origin, (void)region, (void)count, (void)after, (void)event;
    return no_command(q);
}

void* clEnqueueMapImage(cl_command_queue q, cl_mem image, cl_bool blocking, cl_map_flags flags, const size_t* origin,
                        const size_t* region, size_t* pitch, size_t* slice_pitch, cl_uint count, const cl_event* after,
                        cl_event* event, cl_int* error) {
    (void)image, (void)blocking, (void)flags, (void)origin, (void)region, (void)pitch, (void)slice_pitch;
    (void)count, (void)after, (void)event;
    return cl_created(NULL, no_command(q), error);
}
