/* SPDX-License-Identifier: Apache-2.0 */
/* y = A x with a sparse matrix, in two ways, with OpenCL 1.2: plain host code, linked for bare metal. */
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 2000, MAX_IN_ROW = 40, GROUP = 64 };

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
        fprintf(stderr, "there is no %s\n", name);
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

/* The matrix in compressed rows. */
static cl_uint starts[ROWS + 1], columns[ROWS * MAX_IN_ROW];
static cl_float values[ROWS * MAX_IN_ROW], x[ROWS], y[ROWS], expected[ROWS];

static void make_matrix(void) {
    srand(1);
    for (cl_uint row = 0; row < ROWS; ++row) {
        const cl_uint count = 1 + (cl_uint)rand() % MAX_IN_ROW;
        starts[row + 1] = starts[row] + count;
        for (cl_uint i = starts[row]; i < starts[row + 1]; ++i) {
            columns[i] = (cl_uint)rand() % ROWS;
            values[i] = (cl_float)(rand() % 1000) / 1000;
        }
        x[row] = (cl_float)(rand() % 1000) / 1000;
    }
    for (cl_uint row = 0; row < ROWS; ++row)
        for (cl_uint i = starts[row]; i < starts[row + 1]; ++i) expected[row] += values[i] * x[columns[i]];
}

static int is_right(void) {
    for (int row = 0; row < ROWS; ++row)
        if (fabsf(y[row] - expected[row]) > 1e-4f * expected[row]) return 0;
    return 1;
}

static double microseconds(cl_event event) {
    cl_ulong start, end;
    CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
    CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
    return (double)(end - start) / 1000;
}

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    char name[64];
    make_matrix();
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL));
    CHECK(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL));
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    CHECK(error);
    cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &error);
    CHECK(error);

    size_t bytes;
    const unsigned char* binary = read_file("spmv.elf", &bytes);
    cl_program program = clCreateProgramWithBinary(context, 1, &device, &bytes, &binary, NULL, &error);
    CHECK(error);
    CHECK(clBuildProgram(program, 1, &device, "", NULL, NULL));
    cl_kernel scalar = clCreateKernel(program, "spmv_scalar", &error), vector;
    CHECK(error);
    vector = clCreateKernel(program, "spmv_vector", &error);
    CHECK(error);

    const cl_mem_flags in = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
    cl_mem buffers[5] = {clCreateBuffer(context, in, sizeof starts, starts, NULL),
                         clCreateBuffer(context, in, sizeof columns, columns, NULL),
                         clCreateBuffer(context, in, sizeof values, values, NULL),
                         clCreateBuffer(context, in, sizeof x, x, NULL),
                         clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof y, NULL, NULL)};
    for (cl_uint i = 0; i < 5; ++i) {
        CHECK(clSetKernelArg(scalar, i, sizeof(cl_mem), &buffers[i]));
        CHECK(clSetKernelArg(vector, i, sizeof(cl_mem), &buffers[i]));
    }
    const cl_uint rows = ROWS;
    CHECK(clSetKernelArg(scalar, 5, sizeof rows, &rows));
    CHECK(clSetKernelArg(vector, 5, GROUP * sizeof(cl_float), NULL)); /* local memory */

    cl_event done[2];
    const size_t group = GROUP, items = (ROWS + GROUP - 1) / GROUP * GROUP, all = (size_t)ROWS * GROUP;
    CHECK(clEnqueueNDRangeKernel(queue, scalar, 1, NULL, &items, &group, 0, NULL, &done[0]));
    CHECK(clEnqueueReadBuffer(queue, buffers[4], CL_TRUE, 0, sizeof y, y, 0, NULL, NULL));
    int right = is_right();
    CHECK(clEnqueueNDRangeKernel(queue, vector, 1, NULL, &all, &group, 0, NULL, &done[1]));
    CHECK(clEnqueueReadBuffer(queue, buffers[4], CL_TRUE, 0, sizeof y, y, 0, NULL, NULL));
    right &= is_right();
    printf("%s: %u elements; a work-item a row %.1f us, a work-group a row %.1f us\n", name, starts[ROWS],
           microseconds(done[0]), microseconds(done[1]));
    printf("the result is %s\n", right ? "right" : "WRONG");

    for (int i = 0; i < 2; ++i) CHECK(clReleaseEvent(done[i]));
    for (int i = 0; i < 5; ++i) CHECK(clReleaseMemObject(buffers[i]));
    CHECK(clReleaseKernel(scalar));
    CHECK(clReleaseKernel(vector));
    CHECK(clReleaseProgram(program));
    CHECK(clReleaseCommandQueue(queue));
    CHECK(clReleaseContext(context));
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
