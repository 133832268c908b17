/* SPDX-License-Identifier: Apache-2.0 */
/* c = a + b with OpenCL 1.2, as for any system: all devices of all platforms that a loader finds. The first argument is
 * the number of elements. There is no compiler where it runs, so the kernel comes from vector_add.elf beside it. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_PLATFORMS = 8, MAX_DEVICES = 16, MAX_TEXT = 128 };

#define CHECK(call)                                                                \
    do {                                                                           \
        const cl_int error_ = (call);                                              \
        if (error_ != CL_SUCCESS) {                                                \
            fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, error_); \
            exit(EXIT_FAILURE);                                                    \
        }                                                                          \
    } while (0)

static unsigned char* read_file(const char* name, size_t* bytes) {
    FILE* file = fopen(name, "rb");
    if (!file) {
        perror(name);
        exit(EXIT_FAILURE);
    }
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    unsigned char* data = malloc(*bytes);
    if (!data || fread(data, 1, *bytes, file) != *bytes) exit(EXIT_FAILURE);
    fclose(file);
    return data;
}

static unsigned count_wrong(cl_device_id device, cl_uint n) {
    cl_int error;
    size_t bytes;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    CHECK(error);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    CHECK(error);
    unsigned char* binary = read_file("vector_add.elf", &bytes);
    cl_program program =
        clCreateProgramWithBinary(context, 1, &device, &bytes, (const unsigned char**)&binary, NULL, &error);
    CHECK(error);
    CHECK(clBuildProgram(program, 1, &device, "", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "vector_add", &error);
    CHECK(error);

    cl_mem buffers[3];
    for (cl_uint i = 0; i < 3; ++i) {
        buffers[i] =
            clCreateBuffer(context, i < 2 ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY, n * sizeof(cl_float), NULL, &error);
        CHECK(error);
        CHECK(clSetKernelArg(kernel, i, sizeof buffers[i], &buffers[i]));
    }
    CHECK(clSetKernelArg(kernel, 3, sizeof n, &n));
    for (cl_uint i = 0; i < 2; ++i) { /* a[k] = k, b[k] = 2 k */
        cl_float* data = clEnqueueMapBuffer(queue, buffers[i], CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                            n * sizeof *data, 0, NULL, NULL, &error);
        CHECK(error);
        for (cl_uint k = 0; k < n; ++k) data[k] = (cl_float)(k * (i + 1));
        CHECK(clEnqueueUnmapMemObject(queue, buffers[i], data, 0, NULL, NULL));
    }
    const size_t group = 64, items = (n + group - 1) / group * group;
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL));
    const cl_float* sums =
        clEnqueueMapBuffer(queue, buffers[2], CL_TRUE, CL_MAP_READ, 0, n * sizeof *sums, 0, NULL, NULL, &error);
    CHECK(error);
    unsigned wrong = 0;
    for (cl_uint k = 0; k < n; ++k) wrong += sums[k] != (cl_float)(3 * k);
    CHECK(clEnqueueUnmapMemObject(queue, buffers[2], (void*)sums, 0, NULL, NULL));
    CHECK(clFinish(queue));

    for (cl_uint i = 0; i < 3; ++i) CHECK(clReleaseMemObject(buffers[i]));
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(program));
    CHECK(clReleaseCommandQueue(queue));
    CHECK(clReleaseContext(context));
    free(binary);
    return wrong;
}

int main(int argc, char** argv) {
    const cl_uint n = argc > 1 ? (cl_uint)atoi(argv[1]) : 0;
    if (!n) {
        fprintf(stderr, "usage: vector_add_opencl N\n");
        return 2;
    }
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint platform_count = 0;
    unsigned all_wrong = 0;
    CHECK(clGetPlatformIDs(MAX_PLATFORMS, platforms, &platform_count));
    for (cl_uint p = 0; p < platform_count; ++p) {
        char name[MAX_TEXT], version[MAX_TEXT];
        cl_device_id devices[MAX_DEVICES];
        cl_uint device_count = 0;
        CHECK(clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof name, name, NULL));
        CHECK(clGetPlatformInfo(platforms[p], CL_PLATFORM_VERSION, sizeof version, version, NULL));
        printf("platform %u: %s, %s\n", p, name, version);
        CHECK(clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_DEVICES, devices, &device_count));
        for (cl_uint d = 0; d < device_count; ++d) {
            CHECK(clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name, name, NULL));
            const unsigned wrong = count_wrong(devices[d], n);
            printf("device %u: %s: %u elements, %u wrong\n", d, name, n, wrong);
            all_wrong += wrong;
        }
    }
    return all_wrong != 0;
}
