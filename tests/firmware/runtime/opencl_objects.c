/* SPDX-License-Identifier: Apache-2.0 */
/* What OpenCL's objects tell of themselves, and calls beyond plain copies and launches: parts of buffers, mappings,
 * boxes, events of the program's. On Linux it also runs behind a loader, which looks into each handle, so all of these
 * are those of objects. */
#define CL_TARGET_OPENCL_VERSION 120
#include "opencl_checks.h"

#include <stdlib.h>
#include <string.h>

enum { N = 1024, MAX_DEVICES = 16 };

static cl_platform_id platform;
static cl_device_id devices[MAX_DEVICES];
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_int error;

static void contexts(void) {
    cl_context_properties properties[3] = {CL_CONTEXT_PLATFORM, 0, 0}, found[3] = {0};
    cl_device_id device = NULL;
    cl_context of_queue = NULL;
    cl_uint count = 0, references = 0;
    cl_command_queue_properties profiled = 0;
    size_t bytes = 0;
    char text[300];
    CL(clGetPlatformIDs(1, &platform, NULL));
    CL(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MAX_DEVICES, devices, &count));
    CL(clGetDeviceInfo(devices[0], CL_DEVICE_EXTENSIONS, sizeof text, text, NULL));
    check("extensions of devices", strstr(text, "cl_khr_fp64") && strstr(text, "cl_khr_int64_base_atomics"));
    CL(clGetDeviceInfo(devices[0], CL_DEVICE_PARTITION_TYPE, 0, NULL, &bytes));
    check("a device is no part of another", bytes == 0);
    expect("nor has parts", clCreateSubDevices(devices[0], NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    check("devices are not counted", !clRetainDevice(devices[0]) && !clReleaseDevice(devices[0]));
    properties[1] = (cl_context_properties)platform;
    context = clCreateContext(properties, 1, devices, NULL, NULL, &error);
    CL(error);
    CL(clGetContextInfo(context, CL_CONTEXT_PROPERTIES, sizeof found, found, &bytes));
    check("properties of a context", bytes == sizeof found && memcmp(found, properties, sizeof found) == 0);
    CL(clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof count, &count, NULL));
    CL(clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof device, &device, &bytes));
    check("its devices", count == 1 && device == devices[0] && bytes == sizeof device);
    expect("a property that is not there", clGetContextInfo(context, 0x4711, 4, &count, NULL), CL_INVALID_VALUE);
    queue = clCreateCommandQueue(context, devices[0], CL_QUEUE_PROFILING_ENABLE, &error);
    CL(error);
    CL(clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof references, &references, NULL));
    check("which its queue holds", references == 2);
    CL(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof of_queue, &of_queue, NULL));
    CL(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL));
    CL(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof profiled, &profiled, NULL));
    check("a queue", of_queue == context && device == devices[0] && profiled == CL_QUEUE_PROFILING_ENABLE);
}

static unsigned char* read_file(const char* name, size_t* bytes) {
    FILE* file = fopen(name, "rb");
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    unsigned char* data = malloc(*bytes);
    check("a file is read", data && fread(data, 1, *bytes, file) == *bytes && fclose(file) == 0);
    return data;
}

static void programs(void) {
    const char* texts[2] = {"kernel void f(global int* x) { x[0] = 1; }", "// the rest"};
    const size_t lengths[2] = {0, 2};
    char text[400] = "";
    size_t bytes = 0, count = 0;
    cl_program source = clCreateProgramWithSource(context, 2, texts, lengths, &error);
    CL(clGetProgramInfo(source, CL_PROGRAM_SOURCE, sizeof text, text, NULL));
    check("a source of two texts", strcmp(text, "kernel void f(global int* x) { x[0] = 1; }//") == 0);
    expect("cannot be compiled", clCompileProgram(source, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL),
           CL_COMPILER_NOT_AVAILABLE);
    (void)clLinkProgram(context, 0, NULL, NULL, 1, &source, NULL, NULL, &error);
    expect("nor linked", error, CL_LINKER_NOT_AVAILABLE);
    expect("nor has kernels", clGetProgramInfo(source, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL),
           CL_INVALID_PROGRAM_EXECUTABLE);
    (void)clCreateProgramWithBuiltInKernels(context, 1, devices, "f", &error);
    expect("kernels of the device's own", error, CL_INVALID_VALUE);
    CL(clReleaseProgram(source));

    unsigned char* binary = read_file("opencl_kernels.elf", &bytes);
    program = clCreateProgramWithBinary(context, 1, devices, &bytes, (const unsigned char**)&binary, NULL, &error);
    CL(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    size_t found = 0;
    CL(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof found, &found, NULL));
    unsigned char* again = malloc(bytes);
    CL(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof again, &again, NULL));
    check("a binary comes back", found == bytes && memcmp(again, binary, bytes) == 0);
    free(again);
    free(binary);
    CL(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL));
    CL(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, NULL));
    check("names of its kernels", count == 7 && strcmp(text, "add;mixed;sums;shape;shaped;twice;wild") == 0);
    cl_kernel kernels[8];
    cl_uint kernel_count = 0;
    expect("too many kernels", clCreateKernelsInProgram(program, 2, kernels, NULL), CL_INVALID_VALUE);
    CL(clCreateKernelsInProgram(program, 8, kernels, &kernel_count));
    CL(clGetKernelInfo(kernels[2], CL_KERNEL_FUNCTION_NAME, sizeof text, text, NULL));
    check("all its kernels", kernel_count == 7 && strcmp(text, "sums") == 0);
    cl_uint arguments = 0, spaces[4] = {0};
    cl_kernel_arg_type_qualifier constant[2] = {9, 9};
    char type[40] = "";
    CL(clGetKernelInfo(kernels[2], CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, NULL));
    for (cl_uint i = 0; i < 4; ++i)
        CL(clGetKernelArgInfo(kernels[i == 3 ? 1 : 2], i == 3 ? 1 : i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, 4, &spaces[i],
                              NULL));
    check("arguments lie in memory of each kind", arguments == 4 && spaces[0] == CL_KERNEL_ARG_ADDRESS_GLOBAL &&
                                                      spaces[2] == CL_KERNEL_ARG_ADDRESS_LOCAL &&
                                                      spaces[3] == CL_KERNEL_ARG_ADDRESS_PRIVATE);
    for (cl_uint i = 0; i < 2; ++i)
        CL(clGetKernelArgInfo(kernels[2], i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof *constant, &constant[i], NULL));
    CL(clGetKernelArgInfo(kernels[2], 1, CL_KERNEL_ARG_NAME, sizeof text, text, NULL));
    CL(clGetKernelArgInfo(kernels[2], 1, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, NULL));
    check("and have names and types", constant[0] == CL_KERNEL_ARG_TYPE_CONST && !constant[1] &&
                                          strcmp(text, "out") == 0 && strcmp(type, "int*") == 0);
    expect("an argument too many", clGetKernelArgInfo(kernels[2], 4, CL_KERNEL_ARG_NAME, sizeof text, text, NULL),
           CL_INVALID_ARG_INDEX);
    for (int i = 0; i < 7; ++i) CL(clReleaseKernel(kernels[i]));
}

static int called, order[4];

static void note(cl_mem buffer, void* number) {
    (void)buffer;
    order[called++] = *(int*)number;
}

static void parts(void) {
    static int in[N], out[N];
    for (int i = 0; i < N; ++i) in[i] = i;
    const cl_buffer_region region = {1024, 512}, odd = {4, 512}, late = {4096, 4}, none = {0, 0};
    cl_mem whole = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof in, in, &error),
           found = NULL;
    cl_mem part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    expect("a part of a buffer", error, CL_SUCCESS);
    size_t origin = 0;
    cl_mem_flags flags = 0;
    CL(clGetMemObjectInfo(part, CL_MEM_OFFSET, sizeof origin, &origin, NULL));
    CL(clGetMemObjectInfo(part, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof found, &found, NULL));
    CL(clGetMemObjectInfo(part, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
    check("knows the whole", origin == 1024 && found == whole && flags & CL_MEM_READ_ONLY);
    (void)clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &odd, &error);
    expect("a part that begins anywhere", error, CL_MISALIGNED_SUB_BUFFER_OFFSET);
    (void)clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &late, &error);
    expect("one behind the end", error, CL_INVALID_VALUE);
    (void)clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &none, &error);
    expect("one of no bytes", error, CL_INVALID_BUFFER_SIZE);
    (void)clCreateSubBuffer(whole, CL_MEM_WRITE_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    expect("one that may more than the whole", error, CL_INVALID_VALUE);
    (void)clCreateSubBuffer(part, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    expect("a part of a part", error, CL_INVALID_MEM_OBJECT);

    cl_kernel twice = clCreateKernel(program, "twice", &error);
    const size_t items = 128;
    CL(clSetKernelArg(twice, 0, sizeof part, &part));
    CL(clEnqueueNDRangeKernel(queue, twice, 1, NULL, &items, NULL, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(queue, whole, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    int good = 1;
    for (int i = 0; i < N; ++i) good &= out[i] == (i >= 256 && i < 384 ? 2 * i : i);
    check("a kernel works on it", good);
    expect("a copy within", clEnqueueCopyBuffer(queue, part, whole, 0, 1100, 256, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    CL(clEnqueueCopyBuffer(queue, part, whole, 0, 0, 512, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(queue, whole, CL_TRUE, 0, 512, out, 0, NULL, NULL));
    check("and copies", out[0] == 512 && out[127] == 766);
    CL(clReleaseKernel(twice));

    static int one = 1, two = 2;
    CL(clSetMemObjectDestructorCallback(whole, note, &one));
    CL(clSetMemObjectDestructorCallback(whole, note, &two));
    CL(clReleaseMemObject(whole));
    check("the whole stays while a part is there", called == 0);
    CL(clReleaseMemObject(part));
    check("and tells of its end", called == 2 && order[0] == 2 && order[1] == 1);
}

static void mappings(void) {
    static int data[N], out[N];
    for (int i = 0; i < N; ++i) data[i] = i;
    cl_mem b = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof data, data, &error);
    cl_event event;
    cl_uint count = 0;
    cl_command_type type = 0;
    int* at = clEnqueueMapBuffer(queue, b, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 400, 400, 0, NULL, &event, &error);
    expect("a part is mapped", error, CL_SUCCESS);
    CL(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    CL(clGetMemObjectInfo(b, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
    check("and has its contents", at[0] == 100 && at[99] == 199 && type == CL_COMMAND_MAP_BUFFER && count == 1);
    CL(clReleaseEvent(event));
    for (int i = 0; i < 50; ++i) at[i] = -i;
    expect("not from elsewhere", clEnqueueUnmapMemObject(queue, b, at + 1, 0, NULL, NULL), CL_INVALID_VALUE);
    CL(clEnqueueUnmapMemObject(queue, b, at, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    int good = 1;
    for (int i = 0; i < N; ++i) good &= out[i] == (i >= 100 && i < 150 ? 100 - i : i);
    check("what was written goes back", good);
    expect("once", clEnqueueUnmapMemObject(queue, b, at, 0, NULL, NULL), CL_INVALID_VALUE);
    at = clEnqueueMapBuffer(queue, b, CL_TRUE, CL_MAP_READ, 0, 400, 0, NULL, NULL, &error);
    at[0] = 77;
    CL(clEnqueueUnmapMemObject(queue, b, at, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, 4, out, 0, NULL, NULL));
    check("unless it was mapped to be read", out[0] == 0);
    (void)clEnqueueMapBuffer(queue, b, CL_TRUE, CL_MAP_READ, 4, sizeof data, 0, NULL, NULL, &error);
    expect("more than the buffer", error, CL_INVALID_VALUE);
    (void)clEnqueueMapBuffer(queue, b, CL_TRUE, CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION, 0, 4, 0, NULL, NULL,
                             &error);
    expect("flags that exclude each other", error, CL_INVALID_VALUE);
    CL(clReleaseMemObject(b));

    b = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof data, data, &error);
    expect("memory of the program's as a buffer", error, CL_SUCCESS);
    cl_kernel twice = clCreateKernel(program, "twice", &error);
    const size_t items = N;
    CL(clSetKernelArg(twice, 0, sizeof b, &b));
    CL(clEnqueueNDRangeKernel(queue, twice, 1, NULL, &items, NULL, 0, NULL, NULL));
    at = clEnqueueMapBuffer(queue, b, CL_TRUE, CL_MAP_READ, 0, sizeof data, 0, NULL, NULL, &error);
    check("is mapped where it is", at == data && data[3] == 6 && data[N - 1] == 2 * (N - 1));
    CL(clEnqueueUnmapMemObject(queue, b, at, 0, NULL, NULL));
    CL(clReleaseKernel(twice));
    CL(clReleaseMemObject(b));
    b = clCreateBuffer(context, CL_MEM_HOST_READ_ONLY, 64, NULL, &error);
    (void)clEnqueueMapBuffer(queue, b, CL_TRUE, CL_MAP_WRITE, 0, 4, 0, NULL, NULL, &error);
    expect("a buffer that the host only reads", error, CL_INVALID_OPERATION);
    CL(clReleaseMemObject(b));
}

/* A plane of 16 rows of 64 bytes, of which boxes of 8 x 4 x 2 bytes go elsewhere. */
static void boxes(void) {
    static unsigned char in[N], out[N], expected[N];
    for (int i = 0; i < N; ++i) in[i] = (unsigned char)(i * 7);
    const size_t from[3] = {4, 2, 0}, to[3] = {16, 1, 1}, host[3] = {0, 0, 0}, box[3] = {8, 4, 2}, wide[3] = {65, 4, 2},
                 empty[3] = {0, 1, 1};
    cl_mem a = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, N, in, &error);
    cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE, N, NULL, &error);
    const unsigned char zero = 0;
    CL(clEnqueueFillBuffer(queue, b, &zero, 1, 0, N, 0, NULL, NULL));
    CL(clEnqueueReadBufferRect(queue, a, CL_TRUE, from, host, box, 64, 512, 0, 0, out, 0, NULL, NULL));
    int good = 1;
    for (int i = 0; i < 64; ++i) good &= out[i] == in[4 + i % 8 + (2 + i / 8 % 4) * 64 + i / 32 * 512];
    check("a box is read", good);
    CL(clEnqueueWriteBufferRect(queue, b, CL_FALSE, to, host, box, 64, 256, 8, 32, out, 0, NULL, NULL));
    CL(clEnqueueCopyBufferRect(queue, a, b, from, host, box, 64, 512, 64, 512, 0, NULL, NULL));
    for (int z = 0; z < 2; ++z)
        for (int y = 0; y < 4; ++y)
            for (int x = 0; x < 8; ++x) {
                const unsigned char value = in[4 + x + (2 + y) * 64 + z * 512];
                expected[16 + x + (1 + y) * 64 + (1 + z) * 256] = value;
                expected[x + y * 64 + z * 512] = value;
            }
    CL(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, N, out, 0, NULL, NULL));
    check("written, and copied", memcmp(out, expected, N) == 0);
    expect("wider than a row",
           clEnqueueReadBufferRect(queue, a, CL_TRUE, host, host, wide, 64, 0, 0, 0, out, 0, NULL, NULL),
           CL_INVALID_VALUE);
    expect("of no bytes", clEnqueueReadBufferRect(queue, a, CL_TRUE, host, host, empty, 0, 0, 0, 0, out, 0, NULL, NULL),
           CL_INVALID_VALUE);
    const size_t beyond[3] = {0, 0, (size_t)1 << 62};
    expect("beyond all memory",
           clEnqueueReadBufferRect(queue, a, CL_TRUE, beyond, host, box, 64, 512, 0, 0, out, 0, NULL, NULL),
           CL_INVALID_VALUE);
    expect("onto itself", clEnqueueCopyBufferRect(queue, a, a, from, host, box, 64, 512, 64, 512, 0, NULL, NULL),
           CL_MEM_COPY_OVERLAP);
    CL(clReleaseMemObject(a));
    CL(clReleaseMemObject(b));
}

static cl_int notified;
static int notices;

static void notice(cl_event event, cl_int status, void* user) {
    (void)event;
    notified = status;
    *(int*)user += 1;
}

static void events(void) {
    int value = 5, out = 0;
    cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE, 4, NULL, &error);
    cl_event own = clCreateUserEvent(context, &error), written, other;
    cl_int status = 9;
    cl_command_queue of_event = queue;
    CL(clEnqueueWriteBuffer(queue, b, CL_FALSE, 0, 4, &value, 1, &own, &written));
    CL(clSetEventCallback(written, CL_COMPLETE, notice, &notices));
    CL(clGetEventInfo(written, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    check("a command waits for the program", status == CL_QUEUED && notices == 0);
    CL(clGetEventInfo(own, CL_EVENT_COMMAND_QUEUE, sizeof of_event, &of_event, NULL));
    CL(clGetEventInfo(own, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    check("whose event has no queue", !of_event && status == CL_SUBMITTED);
    expect("nor other values", clSetUserEventStatus(own, CL_RUNNING), CL_INVALID_VALUE);
    CL(clSetUserEventStatus(own, CL_COMPLETE));
    expect("it ends once", clSetUserEventStatus(own, CL_COMPLETE), CL_INVALID_OPERATION);
    expect("only the program's own do", clSetUserEventStatus(written, CL_COMPLETE), CL_INVALID_EVENT);
    CL(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, 4, &out, 0, NULL, NULL));
    check("then it is done, and a function called", out == 5 && notices == 1 && notified == CL_COMPLETE);
    CL(clReleaseEvent(own));
    CL(clReleaseEvent(written));

    own = clCreateUserEvent(context, &error);
    value = 6;
    CL(clEnqueueWriteBuffer(queue, b, CL_FALSE, 0, 4, &value, 1, &own, &other));
    CL(clSetUserEventStatus(own, -7));
    CL(clGetEventInfo(own, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    expect("an event that has failed", status, -7);
    expect("ends what waits for it", clWaitForEvents(1, &other), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    (void)clFinish(queue);
    CL(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, 4, &out, 0, NULL, NULL));
    check("which is not done", out == 5);
    CL(clReleaseEvent(own));
    CL(clReleaseEvent(other));

    CL(clEnqueueMarker(queue, &own));
    CL(clEnqueueWaitForEvents(queue, 1, &own));
    CL(clEnqueueBarrier(queue));
    CL(clEnqueueMigrateMemObjects(queue, 1, &b, 0, 0, NULL, &other));
    expect("markers, barriers and migrations", clWaitForEvents(1, &other), CL_SUCCESS);
    CL(clReleaseEvent(own));
    CL(clReleaseEvent(other));
    CL(clReleaseMemObject(b));
}

static void what_is_not_there(void) {
    const cl_image_format format = {0x10b0, 0x10d2};
    cl_image_desc image = {0};
    cl_uint count = 9;
    image.image_type = 0x10f1, image.image_width = 8, image.image_height = 8;
    (void)clCreateImage(context, CL_MEM_READ_ONLY, &format, &image, NULL, &error);
    expect("images", error, CL_INVALID_OPERATION);
    CL(clGetSupportedImageFormats(context, CL_MEM_READ_ONLY, 0x10f1, 0, NULL, &count));
    check("have no format", count == 0);
    (void)clCreateSampler(context, CL_FALSE, 0x1130, 0x1140, &error);
    expect("samplers", error, CL_INVALID_OPERATION);
    expect("kernels of the host", clEnqueueNativeKernel(queue, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, NULL),
           CL_INVALID_OPERATION);
    check("extensions that it does not have", !clGetExtensionFunctionAddressForPlatform(platform, "clFlyKHR"));
}

int main(void) {
    contexts();
    programs();
    parts();
    mappings();
    boxes();
    events();
    what_is_not_there();
    CL(clReleaseProgram(program));
    CL(clReleaseCommandQueue(queue));
    CL(clReleaseContext(context));
    printf("%u wrong\n", wrong);
    return wrong != 0;
}
