/* SPDX-License-Identifier: Apache-2.0 */
/* Calls through a loader that a driver of OpenCL 1.2 has not: each is an error, none a crash. And programs from source,
 * for which there is no compiler. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_gl.h>
#include <stdio.h>

static unsigned wrong;

static void expect(const char* what, cl_int found, cl_int wanted) {
    if (found == wanted) return;
    printf("%s: %d, not %d\n", what, found, wanted);
    ++wrong;
}

#define NO_OBJECT(call)                             \
    do {                                            \
        error = CL_SUCCESS;                         \
        wrong += (call) != NULL;                    \
        expect(#call, error, CL_INVALID_OPERATION); \
    } while (0)

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    const char* source = "kernel void f(global int* x) { x[0] = 1; }";
    char log[100] = "";
    cl_ulong times[2];
    clGetPlatformIDs(1, &platform, NULL);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, &error);
    expect("a buffer", error, CL_SUCCESS);

    NO_OBJECT(clCreateFromGLBuffer(context, CL_MEM_READ_WRITE, 1, &error));
    NO_OBJECT(clCreateFromGLTexture(context, CL_MEM_READ_WRITE, 1, 0, 1, &error));
    NO_OBJECT(clCreateCommandQueueWithProperties(context, device, NULL, &error));
    NO_OBJECT(clCreatePipe(context, 0, 4, 4, NULL, &error));
    NO_OBJECT(clCreateSamplerWithProperties(context, NULL, &error));
    NO_OBJECT(clCreateProgramWithIL(context, source, 4, &error));
    NO_OBJECT(clCreateBufferWithProperties(context, NULL, 0, 64, NULL, &error));
    NO_OBJECT(clCreateImageWithProperties(context, NULL, 0, NULL, NULL, NULL, &error));
    wrong += clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0) != NULL;
    clSVMFree(context, NULL);
    expect("clGetDeviceAndHostTimer", clGetDeviceAndHostTimer(device, &times[0], &times[1]), CL_INVALID_OPERATION);
    expect("clEnqueueSVMFree", clEnqueueSVMFree(queue, 0, NULL, NULL, NULL, 0, NULL, NULL), CL_INVALID_OPERATION);
    expect("clEnqueueAcquireGLObjects", clEnqueueAcquireGLObjects(queue, 1, &buffer, 0, NULL, NULL),
           CL_INVALID_OPERATION);
    expect("clSetContextDestructorCallback", clSetContextDestructorCallback(context, NULL, NULL), CL_INVALID_OPERATION);

    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    expect("a program from its source", error, CL_SUCCESS);
    expect("clSetProgramReleaseCallback", clSetProgramReleaseCallback(program, NULL, NULL), CL_INVALID_OPERATION);
    expect("built", clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_COMPILER_NOT_AVAILABLE);
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    printf("%s\n", log);
    clReleaseProgram(program);
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    printf("%u wrong\n", wrong);
    return wrong != 0;
}
