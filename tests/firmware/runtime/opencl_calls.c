/* SPDX-License-Identifier: Apache-2.0 */
/* Each call of OpenCL's run-time: what it does, and the errors that it gives. */
#include "opencl_checks.h"

#include <stdlib.h>
#include <string.h>

enum { N = 4096, MAX_DEVICES = 16 };

static cl_platform_id platform;
static cl_device_id devices[MAX_DEVICES];
static cl_uint device_count;
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_int error;
static unsigned char* binary;
static size_t binary_bytes;

static void platforms(void) {
    cl_uint count = 0;
    char name[64], small[2];
    size_t bytes = 0;
    cl_ulong memory = 0;
    cl_uint units = 0;
    cl_bool compiler = 9;
    cl_ulong local = 0, cache = 0;
    CL(clGetPlatformIDs(1, &platform, &count));
    CL(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, &bytes));
    check("a platform", count == 1 && strcmp(name, "FabricVP") == 0 && bytes == 9);
    expect("a text that does not fit", clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof small, small, NULL),
           CL_INVALID_VALUE);
    expect("a platform that is none", clGetDeviceIDs((cl_platform_id)name, CL_DEVICE_TYPE_GPU, 1, devices, NULL),
           CL_INVALID_PLATFORM);
    expect("no processors of the host", clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, devices, NULL),
           CL_DEVICE_NOT_FOUND);
    CL(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MAX_DEVICES, devices, &device_count));
    CL(clGetDeviceInfo(devices[0], CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL));
    CL(clGetDeviceInfo(devices[0], CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL));
    CL(clGetDeviceInfo(devices[0], CL_DEVICE_COMPILER_AVAILABLE, sizeof compiler, &compiler, NULL));
    CL(clGetDeviceInfo(devices[0], CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL));
    CL(clGetDeviceInfo(devices[0], CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof cache, &cache, NULL));
    printf("%u GPUs, %u compute units, %lu MiB, %lu bytes of local memory, %lu of L2\n", device_count, units,
           memory >> 20, local, cache);
    check("there is no compiler", compiler == CL_FALSE);
    expect("a property that is not there", clGetDeviceInfo(devices[0], 0x4711, sizeof units, &units, NULL),
           CL_INVALID_VALUE);
    expect("a device that is none", clGetDeviceInfo((cl_device_id)name, CL_DEVICE_TYPE, 8, &memory, NULL),
           CL_INVALID_DEVICE);
    context = clCreateContext(NULL, 0, devices, NULL, NULL, &error);
    expect("a context of no devices", error, CL_INVALID_VALUE);
    context = clCreateContext(NULL, 1, devices, NULL, NULL, &error);
    expect("a context", error, CL_SUCCESS);
    queue = clCreateCommandQueue(context, devices[0], CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    expect("a queue without order", error, CL_INVALID_QUEUE_PROPERTIES);
    queue = clCreateCommandQueue((cl_context)name, devices[0], 0, &error);
    expect("a queue of no context", error, CL_INVALID_CONTEXT);
    queue = clCreateCommandQueue(context, devices[0], CL_QUEUE_PROFILING_ENABLE, &error);
    expect("a queue", error, CL_SUCCESS);
}

static void programs(void) {
    const char* source = "kernel void f(global int* x) { x[0] = 1; }";
    char log[100] = "";
    cl_int status = 1;
    program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    expect("a program from its source", error, CL_SUCCESS);
    expect("cannot be built", clBuildProgram(program, 1, devices, "", NULL, NULL), CL_COMPILER_NOT_AVAILABLE);
    CL(clGetProgramBuildInfo(program, devices[0], CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    check("and the log says why", strstr(log, "fabricvp cc") != NULL);
    CL(clReleaseProgram(program));
    FILE* file = fopen("opencl_kernels.elf", "rb");
    fseek(file, 0, SEEK_END);
    binary_bytes = (size_t)ftell(file);
    binary = malloc(binary_bytes);
    rewind(file);
    check("a file is read", fread(binary, 1, binary_bytes, file) == binary_bytes && fclose(file) == 0);
    const unsigned char *bad = (const unsigned char*)log, *good = binary;
    const size_t bad_bytes = sizeof log;
    program = clCreateProgramWithBinary(context, 1, devices, &bad_bytes, &bad, &status, &error);
    check("a binary that is none", !program && error == CL_INVALID_BINARY && status == CL_INVALID_BINARY);
    program = clCreateProgramWithBinary(context, 1, devices, &binary_bytes, &good, &status, &error);
    check("a binary", program && error == CL_SUCCESS && status == CL_SUCCESS);
    (void)clCreateKernel(program, "add", &error);
    expect("a kernel of what is not built", error, CL_INVALID_PROGRAM_EXECUTABLE);
    expect("built", clBuildProgram(program, 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
    (void)clCreateKernel(program, "subtract", &error);
    expect("a kernel that is not there", error, CL_INVALID_KERNEL_NAME);
}

static cl_kernel kernel(const char* name) {
    cl_kernel k = clCreateKernel(program, name, &error);
    CL(error);
    return k;
}

static void buffers(void) {
    static int in[N], out[N];
    const int pattern[2] = {7, -8};
    for (int i = 0; i < N; ++i) in[i] = i * i;
    cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof in, in, &error);
    expect("a buffer with contents", error, CL_SUCCESS);
    cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof in, NULL, &error);
    CL(clEnqueueCopyBuffer(queue, a, b, 0, 400, sizeof in - 400, 0, NULL, NULL));
    CL(clEnqueueFillBuffer(queue, b, pattern, sizeof pattern, 0, 400, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    int good = 1;
    for (int i = 0; i < N; ++i) good &= out[i] == (i < 100 ? pattern[i % 2] : in[i - 100]);
    check("copied, filled and read", good);
    (void)clCreateBuffer(context, CL_MEM_READ_WRITE, 0, NULL, &error);
    expect("a buffer of no bytes", error, CL_INVALID_BUFFER_SIZE);
    (void)clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 4, NULL, &error);
    expect("contents of a null pointer", error, CL_INVALID_HOST_PTR);
    (void)clCreateBuffer(context, CL_MEM_READ_WRITE, (size_t)1 << 40, NULL, &error);
    expect("a buffer larger than the memory", error, CL_INVALID_BUFFER_SIZE);
    cl_mem large[3];
    cl_ulong memory;
    CL(clGetDeviceInfo(devices[0], CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL));
    for (int i = 0; i < 3; ++i) large[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, memory / 3, NULL, &error);
    check("more than is left", error == CL_MEM_OBJECT_ALLOCATION_FAILURE && !large[2]);
    CL(clReleaseMemObject(large[0]));
    large[2] = clCreateBuffer(context, CL_MEM_READ_WRITE, memory / 3, NULL, &error);
    expect("memory that was freed can be used again", error, CL_SUCCESS);
    CL(clReleaseMemObject(large[1]));
    CL(clReleaseMemObject(large[2]));
    expect("a read behind the end", clEnqueueReadBuffer(queue, a, CL_TRUE, 4, sizeof in, out, 0, NULL, NULL),
           CL_INVALID_VALUE);
    expect("a copy onto itself", clEnqueueCopyBuffer(queue, a, a, 0, 8, 16, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    expect("a pattern of three bytes", clEnqueueFillBuffer(queue, a, pattern, 3, 0, 6, 0, NULL, NULL),
           CL_INVALID_VALUE);
    CL(clRetainMemObject(a));
    CL(clReleaseMemObject(a));
    CL(clReleaseMemObject(a));
    expect("a buffer that is gone", clReleaseMemObject(a), CL_INVALID_MEM_OBJECT);
    CL(clReleaseMemObject(b));
}

static void kernels(void) {
    static float a[N], b[N], c[N];
    for (int i = 0; i < N; ++i) a[i] = (float)i / 7, b[i] = 1.0f / (float)(i + 1);
    cl_mem buffer[3];
    cl_kernel add = kernel("add");
    const size_t all = N, group = 64;
    buffer[0] = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof a, a, &error);
    buffer[1] = clCreateBuffer(context, CL_MEM_READ_ONLY, sizeof b, NULL, &error);
    buffer[2] = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof c, NULL, &error);
    expect("arguments that are missing", clEnqueueNDRangeKernel(queue, add, 1, NULL, &all, &group, 0, NULL, NULL),
           CL_INVALID_KERNEL_ARGS);
    for (cl_uint i = 0; i < 3; ++i) CL(clSetKernelArg(add, i, sizeof buffer[i], &buffer[i]));
    cl_event written, done;
    cl_ulong times[4] = {0};
    CL(clEnqueueWriteBuffer(queue, buffer[1], CL_FALSE, 0, sizeof b, b, 0, NULL, &written));
    CL(clEnqueueNDRangeKernel(queue, add, 1, NULL, &all, &group, 1, &written, &done));
    CL(clEnqueueReadBuffer(queue, buffer[2], CL_TRUE, 0, sizeof c, c, 1, &done, NULL));
    int good = 1;
    for (int i = 0; i < N; ++i) good &= c[i] == a[i] + b[i];
    check("vectors are added", good);
    for (cl_uint i = 0; i < 4; ++i)
        CL(clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_QUEUED + i, sizeof times[i], &times[i], NULL));
    check("times are in order", times[0] && times[0] <= times[1] && times[1] <= times[2] && times[2] < times[3] &&
                                    times[3] - times[0] < 1000000);
    cl_int status = 99;
    CL(clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    check("the event is complete", status == CL_COMPLETE);
    CL(clReleaseEvent(written));
    CL(clReleaseEvent(done));
    expect("an event that is gone", clWaitForEvents(1, &done), CL_INVALID_EVENT);

    const int number = 3;
    expect("an argument too many", clSetKernelArg(add, 3, 4, &number), CL_INVALID_ARG_INDEX);
    expect("a buffer of the wrong size", clSetKernelArg(add, 0, 4, &buffer[0]), CL_INVALID_ARG_SIZE);
    const cl_mem none = (cl_mem)a;
    expect("a buffer that is none", clSetKernelArg(add, 0, sizeof none, &none), CL_INVALID_MEM_OBJECT);
    const size_t large = 2048, odd = 48, zero = 0, wide = (size_t)1 << 33, offset = 64;
    expect("a work-group of 2048", clEnqueueNDRangeKernel(queue, add, 1, NULL, &all, &large, 0, NULL, NULL),
           CL_INVALID_WORK_ITEM_SIZE);
    expect("a size that is no multiple", clEnqueueNDRangeKernel(queue, add, 1, NULL, &all, &odd, 0, NULL, NULL),
           CL_INVALID_WORK_GROUP_SIZE);
    expect("no work-items", clEnqueueNDRangeKernel(queue, add, 1, NULL, &zero, NULL, 0, NULL, NULL),
           CL_INVALID_GLOBAL_WORK_SIZE);
    expect("2^33 work-items", clEnqueueNDRangeKernel(queue, add, 1, NULL, &wide, &group, 0, NULL, NULL),
           CL_INVALID_GLOBAL_WORK_SIZE);
    expect("four dimensions", clEnqueueNDRangeKernel(queue, add, 4, NULL, &all, &group, 0, NULL, NULL),
           CL_INVALID_WORK_DIMENSION);
    expect("an offset", clEnqueueNDRangeKernel(queue, add, 1, &offset, &all, &group, 0, NULL, NULL),
           CL_INVALID_GLOBAL_OFFSET);
    expect("a queue that is none", clEnqueueNDRangeKernel((cl_command_queue)a, add, 1, NULL, &all, NULL, 0, NULL, NULL),
           CL_INVALID_COMMAND_QUEUE);
    CL(clReleaseKernel(add));
    expect("a kernel that is gone", clSetKernelArg(add, 0, 8, &buffer[0]), CL_INVALID_KERNEL);

    cl_kernel mixed = kernel("mixed");
    double out[6];
    const cl_char ch = -3;
    const cl_short3 v = {{-1, -30000, 5}};
    const int set[2] = {1, 77};
    struct {
        int a;
        double b;
    } p = {21, 2.25};
    cl_mem constant = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof set, (void*)set, &error);
    CL(clSetKernelArg(mixed, 0, sizeof buffer[2], &buffer[2]));
    CL(clSetKernelArg(mixed, 1, sizeof ch, &ch));
    CL(clSetKernelArg(mixed, 2, sizeof v, &v));
    CL(clSetKernelArg(mixed, 3, sizeof p, &p));
    CL(clSetKernelArg(mixed, 4, sizeof constant, &constant));
    expect("a number of the wrong size", clSetKernelArg(mixed, 1, 4, &number), CL_INVALID_ARG_SIZE);
    expect("a number of nothing", clSetKernelArg(mixed, 1, 1, NULL), CL_INVALID_ARG_VALUE);
    CL(clEnqueueTask(queue, mixed, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(queue, buffer[2], CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    check("arguments of all kinds",
          out[0] == -3 && out[1] == -30000 && out[2] == 21 && out[3] == 2.25 && out[4] == 77 && out[5] == 5);
    CL(clReleaseKernel(mixed));
    CL(clReleaseMemObject(constant));

    cl_kernel sums = kernel("sums");
    static int x[N], results[2 * N / 128];
    for (int i = 0; i < N; ++i) x[i] = i * 3 + 1;
    const size_t of_128 = 128;
    cl_ulong local = 0;
    CL(clEnqueueWriteBuffer(queue, buffer[0], CL_TRUE, 0, sizeof x, x, 0, NULL, NULL));
    CL(clSetKernelArg(sums, 0, sizeof buffer[0], &buffer[0]));
    CL(clSetKernelArg(sums, 1, sizeof buffer[2], &buffer[2]));
    expect("local memory with a value", clSetKernelArg(sums, 2, 512, x), CL_INVALID_ARG_VALUE);
    expect("local memory of no bytes", clSetKernelArg(sums, 2, 0, NULL), CL_INVALID_ARG_SIZE);
    CL(clSetKernelArg(sums, 2, 512, NULL));
    CL(clSetKernelArg(sums, 3, 70000, NULL));
    expect("too much local memory", clEnqueueNDRangeKernel(queue, sums, 1, NULL, &all, &of_128, 0, NULL, NULL),
           CL_OUT_OF_RESOURCES);
    CL(clSetKernelArg(sums, 3, 512, NULL));
    CL(clGetKernelWorkGroupInfo(sums, devices[0], CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL));
    CL(clEnqueueNDRangeKernel(queue, sums, 1, NULL, &all, &of_128, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(queue, buffer[2], CL_TRUE, 0, sizeof results, results, 0, NULL, NULL));
    good = local == 256 + 1024;
    for (int g = 0; g < N / 128; ++g) {
        int sum = 0;
        for (int i = 0; i < 128; ++i) sum += x[128 * g + i];
        good &= results[2 * g] == sum && results[2 * g + 1] == 128;
    }
    check("local memory", good);
    CL(clReleaseKernel(sums));

    cl_kernel shape = kernel("shape"), shaped = kernel("shaped");
    const size_t plane[2] = {64, 8}, line[2] = {64, 1};
    static cl_uint shapes[512];
    CL(clSetKernelArg(shape, 0, sizeof buffer[2], &buffer[2]));
    CL(clEnqueueNDRangeKernel(queue, shape, 2, NULL, plane, NULL, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(queue, buffer[2], CL_TRUE, 0, sizeof shapes, shapes, 0, NULL, NULL));
    check("a work-group is chosen", shapes[0] == (64 << 16 | 4) && shapes[511] == (64 << 16 | 4));
    CL(clSetKernelArg(shaped, 0, sizeof buffer[2], &buffer[2]));
    expect("another work-group than required",
           clEnqueueNDRangeKernel(queue, shaped, 2, NULL, plane, line, 0, NULL, NULL), CL_INVALID_WORK_GROUP_SIZE);
    CL(clEnqueueNDRangeKernel(queue, shaped, 2, NULL, plane, NULL, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(queue, buffer[2], CL_TRUE, 0, sizeof shapes, shapes, 0, NULL, NULL));
    check("the required one", shapes[0] == (32 << 16 | 2) && shapes[511] == (32 << 16 | 2));
    CL(clReleaseKernel(shape));
    CL(clReleaseKernel(shaped));
    for (int i = 0; i < 3; ++i) CL(clReleaseMemObject(buffer[i]));
}

static void faults(void) {
    cl_kernel wild = kernel("wild"), twice = kernel("twice");
    cl_event bad, behind;
    int out[64];
    const size_t items = 64;
    const cl_mem null = NULL;
    cl_command_queue other = clCreateCommandQueue(context, devices[0], 0, &error);
    cl_mem x = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof out, NULL, &error);
    CL(clSetKernelArg(wild, 0, sizeof null, &null));
    CL(clSetKernelArg(twice, 0, sizeof x, &x));
    CL(clEnqueueNDRangeKernel(queue, wild, 1, NULL, &items, NULL, 0, NULL, &bad));
    CL(clEnqueueNDRangeKernel(other, twice, 1, NULL, &items, NULL, 1, &bad, &behind));
    expect("a wild pointer", clWaitForEvents(1, &bad), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    cl_int status = 99;
    CL(clGetEventInfo(bad, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    check("has an error for a status", status == CL_OUT_OF_RESOURCES);
    expect("what waited for it fails, too", clWaitForEvents(1, &behind), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    expect("and the queue tells", clFinish(queue), CL_OUT_OF_RESOURCES);
    expect("once", clFinish(queue), CL_SUCCESS);
    (void)clFinish(other);
    CL(clSetKernelArg(wild, 0, sizeof x, &x));
    CL(clEnqueueNDRangeKernel(queue, wild, 1, NULL, &items, NULL, 0, NULL, NULL));
    CL(clFinish(queue));
    CL(clEnqueueNDRangeKernel(other, twice, 1, NULL, &items, NULL, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(other, x, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    check("the GPU goes on", out[0] == 2 && out[63] == 2);
    CL(clReleaseEvent(bad));
    CL(clReleaseEvent(behind));
    CL(clReleaseKernel(wild));
    CL(clReleaseKernel(twice));
    CL(clReleaseMemObject(x));
    CL(clReleaseCommandQueue(other));
}

/* One context for two devices: a buffer goes from one to the other by an event. */
static void two_devices(void) {
    if (device_count < 2) return;
    cl_context both = clCreateContext(NULL, 2, devices, NULL, NULL, &error);
    if (!both) {
        expect("devices that do not reach each other share no context", error, CL_DEVICE_NOT_AVAILABLE);
        return;
    }
    cl_command_queue queues[2];
    const unsigned char* binaries[2] = {binary, binary};
    const size_t lengths[2] = {binary_bytes, binary_bytes}, items = N;
    static int in[N], out[N];
    for (int i = 0; i < N; ++i) in[i] = i - 50;
    for (int i = 0; i < 2; ++i) queues[i] = clCreateCommandQueue(both, devices[i], 0, &error);
    cl_program p = clCreateProgramWithBinary(both, 2, devices, lengths, binaries, NULL, &error);
    CL(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    cl_kernel twice = clCreateKernel(p, "twice", &error);
    cl_mem x = clCreateBuffer(both, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof in, in, &error);
    cl_event first;
    CL(clSetKernelArg(twice, 0, sizeof x, &x));
    CL(clEnqueueNDRangeKernel(queues[1], twice, 1, NULL, &items, NULL, 0, NULL, &first));
    CL(clEnqueueNDRangeKernel(queues[0], twice, 1, NULL, &items, NULL, 1, &first, NULL));
    CL(clEnqueueReadBuffer(queues[0], x, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    int good = 1;
    for (int i = 0; i < N; ++i) good &= out[i] == 4 * in[i];
    check("two devices work on a buffer, in order by an event", good);
    CL(clReleaseEvent(first));
    CL(clReleaseMemObject(x));
    CL(clReleaseKernel(twice));
    CL(clReleaseProgram(p));
    for (int i = 0; i < 2; ++i) CL(clReleaseCommandQueue(queues[i]));
    CL(clReleaseContext(both));
}

int main(void) {
    platforms();
    programs();
    buffers();
    kernels();
    faults();
    two_devices();
    CL(clReleaseProgram(program));
    CL(clReleaseCommandQueue(queue));
    CL(clReleaseContext(context));
    expect("all is gone", clReleaseContext(context), CL_INVALID_CONTEXT);
    printf("%u wrong\n", wrong);
    return wrong != 0;
}
