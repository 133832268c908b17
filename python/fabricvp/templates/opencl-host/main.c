/* SPDX-License-Identifier: Apache-2.0 */
/* Host code in OpenCL 1.2, on bare metal: the page "Host programs in HIP and OpenCL" lists the calls that are there. */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#include "drivers/gpu/images.h"

enum { N = 10000 };

static void check(cl_int error, const char* what) {
    if (error == CL_SUCCESS) return;
    printf("%s: %d\n", what, error);
    exit(EXIT_FAILURE);
}

int main(void) {
    static cl_float in[N], out[N];
    const cl_int n = N;
    const size_t items = N;
    cl_int error;
    cl_device_id device;
    cl_event done;
    cl_ulong start, end;
    int wrong = 0;
    for (int i = 0; i < N; ++i) in[i] = (cl_float)i / 7;

    check(clGetDeviceIDs(NULL, CL_DEVICE_TYPE_GPU, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &error);
    check(error, "clCreateCommandQueue");

    const struct image* image = find_image("kernels"); /* kernels.elf, inside of this program */
    const size_t bytes = image->bytes;
    const unsigned char* binary = image->start;
    cl_program program = clCreateProgramWithBinary(context, 1, &device, &bytes, &binary, NULL, &error);
    check(error, "clCreateProgramWithBinary");
    check(clBuildProgram(program, 1, &device, NULL, NULL, NULL), "clBuildProgram");
    cl_kernel triple = clCreateKernel(program, "triple", &error);
    check(error, "clCreateKernel");

    cl_mem from = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof in, in, &error);
    check(error, "clCreateBuffer");
    cl_mem to = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof out, NULL, &error);
    check(error, "clCreateBuffer");
    check(clSetKernelArg(triple, 0, sizeof from, &from), "clSetKernelArg");
    check(clSetKernelArg(triple, 1, sizeof to, &to), "clSetKernelArg");
    check(clSetKernelArg(triple, 2, sizeof n, &n), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(queue, triple, 1, NULL, &items, NULL, 0, NULL, &done), "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, out, 1, &done, NULL), "clEnqueueReadBuffer");
    check(clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL), "start");
    check(clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "end");

    for (int i = 0; i < N; ++i) wrong += out[i] != 3 * in[i];
    printf("%d work-items in %lu ns\n", N, end - start);
    printf("the result is %s\n", wrong ? "WRONG" : "right");
    return wrong != 0;
}
