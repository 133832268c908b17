/* SPDX-License-Identifier: Apache-2.0 */
/* A program in OpenCL that has its kernel as a text, as most have, and prints what becomes of it. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>

enum { N = 256 };

static const char* const source[] = {
    "/* kernel void wrong(global int* x); */\n",
    "#define NAME \"kernel void text\"\n",
    "__kernel __attribute__((reqd_work_group_size(64, 1, 1)))\nvoid scale(__global int* x) {\n",
    "    x[get_global_id(0)] *= FACTOR; // kernel void nor(this)\n}\n",
    "kernel void other(global int* x) { x[0] = WIDTH; }\n",
};

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    cl_bool compiler = CL_FALSE;
    cl_build_status status = CL_BUILD_IN_PROGRESS;
    char log[200] = "";
    int x[N];
    clGetPlatformIDs(1, &platform, NULL);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL);
    clGetDeviceInfo(device, CL_DEVICE_COMPILER_AVAILABLE, sizeof compiler, &compiler, NULL);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    cl_program program = clCreateProgramWithSource(context, 5, (const char**)source, NULL, &error);
    error = clBuildProgram(program, 1, &device, "-DFACTOR=3 -cl-mad-enable -D WIDTH", NULL, NULL);
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL);
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    printf("compiler %u, built %d %d: %s\n", compiler, error, status, log);
    if (error) return 1;
    cl_kernel kernel = clCreateKernel(program, "scale", &error);
    if (error) return printf("no kernel: %d\n", error), 1;
    for (int i = 0; i < N; ++i) x[i] = i;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof x, x, &error);
    const size_t items = N;
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    error = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL);
    if (!error) error = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof x, x, 0, NULL, NULL);
    printf("%d: %d %d\n", error, x[1], x[N - 1]);
    return error != 0;
}
