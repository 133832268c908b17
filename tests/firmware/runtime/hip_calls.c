/* SPDX-License-Identifier: Apache-2.0 */
/* Each call of HIP's run-time: what it does, and the errors that it gives. */
#include <hip/hip_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 5000, MIB = 1 << 20 };

static unsigned wrong;

static void check(const char* what, int good) {
    printf("%-60s %s\n", what, good ? "ok" : "FAILED");
    wrong += !good;
}

static void expect(const char* what, hipError_t found, hipError_t wanted) {
    check(what, found == wanted);
    if (found != wanted) printf("  %s, not %s\n", hipGetErrorName(found), hipGetErrorName(wanted));
}

#define HIP(call)                                                                        \
    do {                                                                                 \
        const hipError_t error_ = (call);                                                \
        if (error_) printf("FAILED: %s: %s\n", #call, hipGetErrorName(error_)), ++wrong; \
    } while (0)

static hipModule_t module;

static hipFunction_t function(const char* name) {
    hipFunction_t f = NULL;
    HIP(hipModuleGetFunction(&f, module, name));
    return f;
}

static hipError_t launch(hipFunction_t f, unsigned blocks, unsigned threads, hipStream_t stream, void** parameters) {
    return hipModuleLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, NULL);
}

static void devices(void) {
    int count = 0, device = -1;
    hipDeviceProp_t p;
    HIP(hipInit(0));
    HIP(hipGetDeviceCount(&count));
    HIP(hipGetDevice(&device));
    HIP(hipGetDeviceProperties(&p, 0));
    printf("%d GPUs: %s, %d compute units at %d MHz, %u MiB, %u bytes of shared memory, warps of %d\n", count, p.name,
           p.multiProcessorCount, p.clockRate / 1000, (unsigned)(p.totalGlobalMem >> 20), (unsigned)p.sharedMemPerBlock,
           p.warpSize);
    printf("%d registers, %u bytes of L2, %d threads a compute unit, memory of %d bits at %d MHz\n", p.regsPerBlock,
           (unsigned)p.l2CacheSize, p.maxThreadsPerMultiProcessor, p.memoryBusWidth, p.memoryClockRate / 1000);
    check("the first device is current", device == 0);
    expect("a device that is not there", hipSetDevice(count), hipErrorInvalidDevice);
    expect("a negative device", hipGetDeviceProperties(&p, -1), hipErrorInvalidDevice);
    expect("the last error is kept", hipPeekAtLastError(), hipErrorInvalidDevice);
    expect("and told once", hipGetLastError(), hipErrorInvalidDevice);
    expect("then there is none", hipGetLastError(), hipSuccess);
    check("errors have names and texts", strcmp(hipGetErrorName(hipErrorOutOfMemory), "hipErrorOutOfMemory") == 0 &&
                                             strcmp(hipGetErrorString(hipErrorOutOfMemory), "out of memory") == 0);
}

static void memory(void) {
    static uint8_t out[3 * MIB], back[3 * MIB];
    for (unsigned i = 0; i < sizeof out; ++i) out[i] = (uint8_t)(i * 7 + (i >> 9));
    uint8_t *a, *b;
    HIP(hipMalloc((void**)&a, sizeof out));
    HIP(hipMalloc((void**)&b, sizeof out));
    HIP(hipMemcpy(a, out, sizeof out, hipMemcpyHostToDevice));
    HIP(hipMemcpy(b + 1, a + 3, sizeof out - 5, hipMemcpyDeviceToDevice));
    HIP(hipMemcpy(back, b + 1, sizeof out - 5, hipMemcpyDefault));
    check("there, on the device, and back", memcmp(back, out + 3, sizeof out - 5) == 0);
    HIP(hipMemset(a + 5, 0xa5, 70000));
    HIP(hipMemcpyDtoH(back, a, 70010));
    int good = back[4] == out[4] && back[70005] == out[70005];
    for (unsigned i = 5; i < 70005; ++i) good &= back[i] == 0xa5;
    check("memset", good);
    HIP(hipMemsetD32(a, 0x12345678, 100));
    HIP(hipMemcpyDtoH(back, a, 404));
    check("memset of words", back[0] == 0x78 && back[399] == 0x12 && back[400] == 0xa5);
    HIP(hipMemcpy(back, out, 100, hipMemcpyHostToHost));
    check("on the host", memcmp(back, out, 100) == 0);
    expect("behind the end", hipMemcpy(a, out, sizeof out + 1, hipMemcpyHostToDevice), hipErrorInvalidValue);
    expect("in a direction that is none", hipMemcpy(a, out, 4, (hipMemcpyKind)9), hipErrorInvalidMemcpyDirection);
    expect("in another direction than said", hipMemcpy(back, out, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
    expect("of no bytes", hipMemcpy(a, out, 0, hipMemcpyHostToDevice), hipSuccess);
    expect("freed", hipFree(a), hipSuccess);
    expect("freed twice", hipFree(a), hipErrorInvalidValue);
    expect("freed in the middle", hipFree(b + 8), hipErrorInvalidValue);
    expect("a copy of what was freed", hipMemcpy(back, a, 4, hipMemcpyDeviceToHost), hipErrorInvalidValue);
    HIP(hipFree(b));
    expect("null is fine", hipFree(NULL), hipSuccess);
    size_t before, after, all;
    HIP(hipMemGetInfo(&before, &all));
    expect("more than there is", hipMalloc((void**)&a, all), hipErrorOutOfMemory);
    check("gives a null pointer", a == NULL);
    /* Ten times what there is, in blocks that are given back. */
    good = 1;
    for (unsigned i = 0; i < 40; ++i) {
        void* block[3];
        for (unsigned k = 0; k < 3; ++k) good &= hipMalloc(&block[k], before / 12 + i * 12345 + k) == hipSuccess;
        for (unsigned k = 0; k < 3; ++k) good &= hipFree(block[(k + i) % 3]) == hipSuccess;
    }
    HIP(hipMemGetInfo(&after, &all));
    check("memory that was freed can be used again", good && before - after < MIB);
    (void)hipGetLastError();
}

static void modules(void) {
    hipModule_t other;
    hipFunction_t f;
    static const char text[64] = "this is no image";
    expect("a module by its file's name", hipModuleLoad(&module, "build/hip_kernels.co"), hipSuccess);
    expect("a file that is not there", hipModuleLoad(&other, "nothing.co"), hipErrorFileNotFound);
    expect("data that is no image", hipModuleLoadData(&other, text), hipErrorInvalidImage);
    FILE* file = fopen("hip_kernels.elf", "rb");
    fseek(file, 0, SEEK_END);
    const size_t bytes = (size_t)ftell(file);
    uint8_t* data = malloc(bytes);
    rewind(file);
    check("a file is read", fread(data, 1, bytes, file) == bytes && fclose(file) == 0);
    expect("an image in memory", hipModuleLoadData(&other, data), hipSuccess);
    data[18] = 0;
    free(data);
    HIP(hipModuleGetFunction(&f, other, "add"));
    expect("unloaded", hipModuleUnload(other), hipSuccess);
    expect("unloaded twice", hipModuleUnload(other), hipErrorInvalidHandle);
    expect("a function of it", launch(f, 1, 64, NULL, NULL), hipErrorInvalidHandle);
    expect("a kernel that is not there", hipModuleGetFunction(&f, module, "subtract"), hipErrorNotFound);
    expect("a kernel by its name in the source", hipModuleGetFunction(&f, module, "mangled"), hipSuccess);
    expect("and by its compiler's", hipModuleGetFunction(&f, module, "_Z7mangledPi"), hipSuccess);
    expect("a module that is none", hipModuleGetFunction(&f, (hipModule_t)0x1234, "add"), hipErrorInvalidHandle);
    (void)hipGetLastError();
}

static void launches(void) {
    static float a[N], b[N], c[N];
    for (int i = 0; i < N; ++i) a[i] = sinf((float)i), b[i] = (float)i / 3;
    float *da, *db, *dc;
    int n = N;
    HIP(hipMalloc((void**)&da, sizeof a));
    HIP(hipMalloc((void**)&db, sizeof b));
    HIP(hipMalloc((void**)&dc, sizeof c));
    HIP(hipMemcpy(da, a, sizeof a, hipMemcpyHostToDevice));
    HIP(hipMemcpy(db, b, sizeof b, hipMemcpyHostToDevice));
    void* list[] = {&da, &db, &dc, &n};
    HIP(launch(function("add"), (N + 255) / 256, 256, NULL, list));
    HIP(hipMemcpy(c, dc, sizeof c, hipMemcpyDeviceToHost));
    int good = 1;
    for (int i = 0; i < N; ++i) good &= c[i] == a[i] + b[i];
    check("vectors are added", good);

    double out[6], *dout = (double*)dc;
    char ch = -3;
    short s = -30000;
    struct {
        int a;
        double b;
    } p = {21, 2.25};
    float f = 0.25f;
    long l = -(1l << 33);
    void* mixed[] = {&dout, &ch, &s, &p, &f, &l};
    HIP(launch(function("mixed"), 1, 1, NULL, mixed));
    HIP(hipMemcpy(out, dout, sizeof out, hipMemcpyDeviceToHost));
    check("arguments of all sizes",
          out[0] == -3 && out[1] == -30000 && out[2] == 21 && out[3] == 2.25 && out[4] == 0.25 && out[5] == (double)l);

    int values[256];
    for (int i = 0; i < 256; ++i) values[i] = i;
    HIP(hipMemcpy(dc, values, sizeof values, hipMemcpyHostToDevice));
    struct {
        void* x;
    } block = {dc};
    size_t block_bytes = sizeof block;
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &block, HIP_LAUNCH_PARAM_BUFFER_SIZE, &block_bytes,
                     HIP_LAUNCH_PARAM_END};
    HIP(hipModuleLaunchKernel(function("reverse"), 2, 1, 1, 128, 1, 1, 128 * 4, NULL, NULL, extra));
    HIP(hipMemcpy(values, dc, sizeof values, hipMemcpyDeviceToHost));
    good = 1;
    for (int i = 0; i < 256; ++i) good &= values[i] == (i < 128 ? 127 - i : 383 - i);
    check("shared memory, and a packed block of arguments", good);

    hipDeviceptr_t variable;
    size_t bytes;
    int counter = -1;
    double table[3] = {0};
    void* one[] = {&dc};
    for (int i = 0; i < 3; ++i) HIP(launch(function("count"), 2, 64, NULL, one));
    HIP(hipModuleGetGlobal(&variable, &bytes, module, "counter"));
    HIP(hipMemcpyDtoH(&counter, variable, bytes));
    check("variables begin as the source says, and stay", bytes == 4 && counter == 5 + 3 * 128);
    HIP(hipModuleGetGlobal(&variable, &bytes, module, "table"));
    HIP(hipMemcpyDtoH(table, variable, bytes));
    check("arrays, too", bytes == 24 && table[0] == 1 && table[1] == 2 + 3 * 0.5 && table[2] == 3);
    const int weight = 33;
    int weights[2] = {0};
    HIP(hipModuleGetGlobal(&variable, &bytes, module, "weights"));
    HIP(hipMemcpyHtoD((char*)variable + 4, &weight, 4));
    HIP(launch(function("weigh"), 1, 2, NULL, one));
    HIP(hipMemcpy(weights, dc, sizeof weights, hipMemcpyDeviceToHost));
    check("constants that the host has changed", bytes == 8 && weights[0] == 10 && weights[1] == 33);
    expect("what belongs to a module is not freed", hipFree(variable), hipErrorInvalidValue);
    expect("a variable that is not there", hipModuleGetGlobal(&variable, &bytes, module, "none"), hipErrorNotFound);
    int *p42, v42 = 0;
    HIP(launch(function("allocate"), 1, 1, NULL, one));
    HIP(hipMemcpy(&p42, dc, 8, hipMemcpyDeviceToHost));
    check("kernels have a heap", p42 != NULL);
    HIP(hipMemcpyDtoH(&v42, p42, 4));
    check("that the host can read", v42 == 42);

    expect("a block of 1025 threads", launch(function("count"), 1, 1025, NULL, one), hipErrorInvalidConfiguration);
    expect("no blocks", launch(function("count"), 0, 64, NULL, one), hipErrorInvalidConfiguration);
    expect("a grid of 2^32 threads", launch(function("count"), 1u << 26, 64, NULL, one), hipErrorInvalidConfiguration);
    expect("more threads than launch bounds", launch(function("bounded"), 1, 129, NULL, one),
           hipErrorInvalidConfiguration);
    expect("as many", launch(function("bounded"), 1, 128, NULL, one), hipSuccess);
    int fit = 0;
    HIP(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&fit, function("rotate"), 64, 16 << 10));
    hipDeviceProp_t limits;
    HIP(hipGetDeviceProperties(&limits, 0));
    const unsigned blocks = (unsigned)(fit * limits.multiProcessorCount);
    int *x, *y, last[64], met = 1;
    HIP(hipMalloc((void**)&x, blocks * 256));
    HIP(hipMalloc((void**)&y, blocks * 256));
    void* both[] = {&x, &y};
    expect("a cooperative grid that just fits",
           hipModuleLaunchCooperativeKernel(function("rotate"), blocks, 1, 1, 64, 1, 1, 16 << 10, NULL, both),
           hipSuccess);
    HIP(hipMemcpyDtoH(last, y + (blocks - 1) * 64, sizeof last));
    for (int i = 0; i < 64; ++i) met &= last[i] == i;
    check("its blocks wait for each other", met);
    expect("one that does not fit",
           hipModuleLaunchCooperativeKernel(function("rotate"), blocks + 1, 1, 1, 64, 1, 1, 16 << 10, NULL, both),
           hipErrorCooperativeLaunchTooLarge);
    HIP(hipFree(x));
    HIP(hipFree(y));
    expect("all of the shared memory",
           hipModuleLaunchKernel(function("count"), 1, 1, 1, 64, 1, 1, (unsigned)limits.sharedMemPerBlock, NULL, one,
                                 NULL),
           hipSuccess);
    expect("16 bytes more",
           hipModuleLaunchKernel(function("count"), 1, 1, 1, 64, 1, 1, (unsigned)limits.sharedMemPerBlock + 16, NULL,
                                 one, NULL),
           hipErrorLaunchOutOfResources);
    expect("too much shared memory",
           hipModuleLaunchKernel(function("reverse"), 1, 1, 1, 64, 1, 1, 65537, NULL, one, NULL),
           hipErrorLaunchOutOfResources);
    expect("no arguments", launch(function("count"), 1, 64, NULL, NULL), hipErrorInvalidValue);
    expect("a function that is none", launch((hipFunction_t)values, 1, 64, NULL, one), hipErrorInvalidHandle);
    expect("a stream that is none", launch(function("count"), 1, 64, (hipStream_t)values, one), hipErrorInvalidHandle);
    HIP(hipDeviceSynchronize());
    HIP(hipFree(da));
    HIP(hipFree(db));
    HIP(hipFree(dc));
    (void)hipGetLastError();
}

enum { ROUNDS = 20000, STREAMS = 3, ITEMS = 64 };

static int churned(int v) {
    for (int k = 0; k < ROUNDS; ++k) v = (int)((unsigned)v * 3 + (unsigned)k);
    return v;
}

static void streams(void) {
    hipStream_t s[STREAMS];
    hipEvent_t begin[STREAMS], end[STREAMS], never;
    static int in[STREAMS][ITEMS], out[STREAMS][ITEMS];
    int* x[STREAMS];
    int rounds = ROUNDS, factor = 5;
    for (int i = 0; i < STREAMS; ++i) {
        HIP(hipStreamCreate(&s[i]));
        HIP(hipEventCreate(&begin[i]));
        HIP(hipEventCreate(&end[i]));
        HIP(hipMalloc((void**)&x[i], sizeof in[i]));
        for (int k = 0; k < ITEMS; ++k) in[i][k] = i * 1000 + k;
    }
    HIP(hipEventCreate(&never));
    /* All of this is asked for before any of it has ended. */
    for (int i = 0; i < STREAMS; ++i) {
        void* list[] = {&x[i], &rounds};
        void* by[] = {&x[i], &factor};
        HIP(hipMemcpyAsync(x[i], in[i], sizeof in[i], hipMemcpyHostToDevice, s[i]));
        HIP(hipEventRecord(begin[i], s[i]));
        HIP(launch(function("churn"), ITEMS / 64, 64, s[i], list));
        HIP(launch(function("scale"), ITEMS / 64, 64, s[i], by));
        HIP(hipEventRecord(end[i], s[i]));
        HIP(hipMemcpyAsync(out[i], x[i], sizeof in[i], hipMemcpyDeviceToHost, s[i]));
    }
    expect("a stream that works", hipStreamQuery(s[2]), hipErrorNotReady);
    expect("an event that has not happened", hipEventQuery(end[2]), hipErrorNotReady);
    float one, all;
    expect("its time", hipEventElapsedTime(&one, begin[2], end[2]), hipErrorNotReady);
    (void)hipGetLastError();
    HIP(hipStreamSynchronize(s[0]));
    HIP(hipDeviceSynchronize());
    int good = 1;
    for (int i = 0; i < STREAMS; ++i)
        for (int k = 0; k < ITEMS; ++k) good &= out[i][k] == (int)((unsigned)churned(in[i][k]) * 5u);
    check("commands of a stream are in order", good);
    HIP(hipEventElapsedTime(&one, begin[0], end[0]));
    HIP(hipEventElapsedTime(&all, begin[0], end[STREAMS - 1]));
    check("events have times", one > 0.001f && one < 10.0f);
    check("kernels of streams overlap", all < 2.5f * one);
    expect("an event that was never recorded", hipEventElapsedTime(&one, begin[0], never), hipErrorInvalidHandle);
    expect("is over", hipEventSynchronize(never), hipSuccess);

    /* Stream 1 waits for an event of stream 0; the default stream for both. */
    void* churn[] = {&x[0], &rounds};
    void* twice[] = {&x[0], &factor};
    HIP(launch(function("churn"), ITEMS / 64, 64, s[0], churn));
    HIP(hipEventRecord(end[0], s[0]));
    HIP(hipStreamWaitEvent(s[1], end[0], 0));
    HIP(launch(function("scale"), ITEMS / 64, 64, s[1], twice));
    HIP(launch(function("scale"), ITEMS / 64, 64, NULL, twice));
    HIP(launch(function("scale"), ITEMS / 64, 64, s[2], twice));
    HIP(hipMemcpy(out[0], x[0], sizeof out[0], hipMemcpyDeviceToHost));
    good = 1;
    for (int k = 0; k < ITEMS; ++k)
        good &= out[0][k] == (int)((unsigned)churned((int)((unsigned)churned(in[0][k]) * 5u)) * 125u);
    check("streams wait for events and for the default stream", good);

    /* Many more commands than a queue has packets. */
    int zero = 1;
    void* same[] = {&x[1], &zero};
    for (int k = 0; k < 500; ++k) HIP(launch(function("scale"), 1, 64, s[1], same));
    expect("500 launches in flight", hipStreamSynchronize(s[1]), hipSuccess);
    HIP(hipEventDestroy(never));
    expect("an event that is gone", hipEventRecord(never, s[0]), hipErrorInvalidHandle);
    for (int i = 0; i < STREAMS; ++i) {
        HIP(hipStreamDestroy(s[i]));
        HIP(hipFree(x[i]));
    }
    expect("a stream that is gone", hipStreamSynchronize(s[0]), hipErrorInvalidHandle);
    size_t before, after, bytes;
    HIP(hipMemGetInfo(&before, &bytes));
    for (int i = 0; i < 100; ++i) {
        hipStream_t many;
        HIP(hipStreamCreate(&many));
        HIP(hipStreamDestroy(many));
    }
    HIP(hipMemGetInfo(&after, &bytes));
    check("streams give their memory back", before - after < MIB);
    (void)hipGetLastError();
}

static void faults(void) {
    hipStream_t s;
    int *x, *freed, *null = NULL, out[64] = {0};
    HIP(hipStreamCreate(&s));
    HIP(hipMalloc((void**)&x, 4096));
    HIP(hipMalloc((void**)&freed, 4096));
    void* good[] = {&x};
    void* late[] = {&freed};
    void* bad[] = {&null};
    HIP(launch(function("wild"), 1, 64, s, late));
    HIP(hipStreamSynchronize(s));
    HIP(hipFree(freed));
    expect("a launch with a wild pointer begins", launch(function("wild"), 1, 64, s, bad), hipSuccess);
    expect("and fails", hipStreamSynchronize(s), hipErrorIllegalAddress);
    expect("which is told once", hipStreamSynchronize(s), hipSuccess);
    HIP(launch(function("wild"), 1, 64, s, late));
    expect("memory that was freed is a wild pointer", hipStreamSynchronize(s), hipErrorIllegalAddress);
    HIP(launch(function("wild"), 1, 64, s, good));
    HIP(hipStreamSynchronize(s));
    HIP(hipMemcpy(out, x, sizeof out, hipMemcpyDeviceToHost));
    check("the GPU goes on", out[0] == 1 && out[63] == 1);
    HIP(hipStreamDestroy(s));
    HIP(hipFree(x));
    (void)hipGetLastError();
}

static int called, seen[2];

static void note(void* data) {
    called = 1;
    seen[0] = *(int*)data;
}

static void note_status(hipStream_t stream, hipError_t status, void* data) {
    seen[1] = stream == data && status == hipSuccess;
}

/* Memory of the host that kernels use, functions of the host in streams, texts of kernels. */
static void host_side(void) {
    int *p, *pinned, *x, *same, two = 2, back[64], good = 1;
    hipStream_t s;
    HIP(hipMallocManaged((void**)&p, N * sizeof(int), hipMemAttachGlobal));
    HIP(hipMalloc((void**)&x, N * sizeof(int)));
    for (int i = 0; i < N; ++i) p[i] = i;
    void *list[] = {&p, &two}, *said[] = {&two};
    HIP(launch(function("scale"), N / 8, 8, NULL, list));
    HIP(hipDeviceSynchronize());
    for (int i = 0; i < N; ++i) good &= p[i] == 2 * i;
    check("kernels use managed memory", good);
    HIP(hipMemcpy(x, p, N * sizeof(int), hipMemcpyHostToDevice));
    HIP(hipMemset(p, 0, N * sizeof(int)));
    HIP(hipMemcpy(p + 1, x + 1, 64, hipMemcpyDeviceToDevice));
    check("copies take it for either", p[0] == 0 && p[1] == 2 && p[16] == 32 && p[17] == 0);
    HIP(hipFree(p));
    expect("it is freed once", hipFree(p), hipErrorInvalidValue);
    HIP(hipHostMalloc((void**)&pinned, 256, hipHostMallocMapped));
    HIP(hipHostGetDevicePointer((void**)&same, pinned, 0));
    pinned[63] = 21;
    void* mapped[] = {&same, &two};
    HIP(launch(function("scale"), 1, 64, NULL, mapped));
    HIP(hipDeviceSynchronize());
    check("and pinned memory that is mapped", pinned[63] == 42);
    expect("memory of the host is freed where it begins", hipHostFree(pinned + 1), hipErrorInvalidValue);
    HIP(hipHostFree(pinned));
    expect("once", hipHostFree(pinned), hipErrorInvalidValue);
    expect("if it is pinned", hipHostFree(&two), hipErrorInvalidValue);
    expect("or nothing", hipHostFree(NULL), hipSuccess);

    HIP(hipStreamCreate(&s));
    HIP(hipMemcpyAsync(back, x, sizeof back, hipMemcpyDeviceToHost, s));
    HIP(hipLaunchHostFunc(s, note, &back[5]));
    HIP(hipStreamAddCallback(s, note_status, s, 0));
    HIP(hipStreamSynchronize(s));
    check("functions of the host have their turn in a stream", called && seen[0] == 10 && seen[1]);
    HIP(hipStreamDestroy(s));

    hipGraph_t graph;
    hipGraphExec_t exec;
    void* times_two[] = {&x, &two};
    seen[0] = called = 0;
    HIP(hipStreamCreate(&s));
    HIP(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
    HIP(launch(function("scale"), 1, 64, s, times_two));
    HIP(hipMemcpyAsync(back, x, sizeof back, hipMemcpyDeviceToHost, s));
    HIP(hipLaunchHostFunc(s, note, &back[5]));
    expect("a stream that captures is not waited for", hipStreamSynchronize(s), hipErrorStreamCaptureUnsupported);
    HIP(hipStreamEndCapture(s, &graph));
    HIP(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    HIP(hipGraphDestroy(graph));
    check("what is captured is not done", !called);
    for (int i = 0; i < 2; ++i) HIP(hipGraphLaunch(exec, s));
    HIP(hipStreamSynchronize(s));
    check("but by each launch of the graph", called && seen[0] == 40);
    HIP(hipGraphExecDestroy(exec));
    HIP(hipStreamDestroy(s));

    char rows[2][3] = {{1, 2, 3}, {4, 5, 6}}, *wide;
    size_t pitch;
    HIP(hipMallocPitch((void**)&wide, &pitch, 3, 2));
    HIP(hipMemcpy2D(wide, pitch, rows, 3, 3, 2, hipMemcpyHostToDevice));
    memset(rows, 0, sizeof rows);
    HIP(hipMemcpy2D(rows, 3, wide + 1, pitch, 2, 2, hipMemcpyDeviceToHost));
    check("rows", rows[0][1] == 3 && rows[1][0] == 5 && rows[0][2] == 0);
    HIP(hipFree(wide));
    HIP(hipFree(x));
    HIP(launch(function("speak"), 1, 64, NULL, said));
    HIP(hipDeviceSynchronize());
}

static void two_devices(void) {
    int count = 0, can = -1;
    HIP(hipGetDeviceCount(&count));
    if (count < 2) return;
    HIP(hipDeviceCanAccessPeer(&can, 0, 1));
    printf("GPU 0 %s the memory of GPU 1\n", can ? "reaches" : "does not reach");
    expect("peer access", hipDeviceEnablePeerAccess(1, 0), can ? hipSuccess : hipErrorPeerAccessUnsupported);
    static int in[N], out[N];
    for (int i = 0; i < N; ++i) in[i] = i;
    int *x[2], two = 2, three = 3;
    hipModule_t second;
    hipFunction_t scale;
    HIP(hipMalloc((void**)&x[0], sizeof in));
    HIP(hipMemcpy(x[0], in, sizeof in, hipMemcpyHostToDevice));
    HIP(hipSetDevice(1));
    HIP(hipMalloc((void**)&x[1], sizeof in));
    HIP(hipModuleLoad(&second, "hip_kernels"));
    HIP(hipModuleGetFunction(&scale, second, "scale"));
    void* list[] = {&x[0], &two};
    expect("a kernel of another GPU's module", launch(function("scale"), 1, 8, NULL, list), hipErrorInvalidContext);
    HIP(hipSetDevice(0));
    HIP(launch(function("scale"), N / 8, 8, NULL, list));
    HIP(hipMemcpyPeer(x[1], 1, x[0], 0, sizeof in));
    HIP(hipSetDevice(1));
    void* other[] = {&x[1], &three};
    HIP(launch(scale, N / 8, 8, NULL, other));
    HIP(hipMemcpy(out, x[1], sizeof out, hipMemcpyDeviceToHost));
    int good = 1;
    for (int i = 0; i < N; ++i) good &= out[i] == 6 * in[i];
    check("a buffer travels between GPUs", good);
    if (can) { /* the second GPU's kernel in the first one's memory */
        void* far[] = {&x[0], &three};
        HIP(launch(scale, N / 8, 8, NULL, far));
        HIP(hipMemcpy(out, x[0], sizeof out, hipMemcpyDeviceToHost));
        good = 1;
        for (int i = 0; i < N; ++i) good &= out[i] == 6 * in[i];
        check("a kernel works in another GPU's memory", good);
    }
    HIP(hipModuleUnload(second));
    HIP(hipFree(x[0]));
    HIP(hipFree(x[1]));
    HIP(hipSetDevice(0));
    (void)hipGetLastError();
}

int main(void) {
    devices();
    memory();
    modules();
    launches();
    streams();
    faults();
    host_side();
    two_devices();
    printf("%u wrong\n", wrong);
    return wrong != 0;
}
