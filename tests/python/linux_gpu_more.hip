/* SPDX-License-Identifier: Apache-2.0 */
/* Managed and mapped memory, functions of the host in streams, what kernels and devices tell of themselves, rows, graphs
 * and printf() in kernels: more WHAT. */
#include <hip/hip_runtime.h>

#include <cassert>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

__global__ void add(int* p, int value) { p[blockIdx.x * blockDim.x + threadIdx.x] += value; }

__global__ void __launch_bounds__(128) tiled(int* p) {
    __shared__ int tile[256];
    tile[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = tile[threadIdx.x ^ 1];
}

__global__ void say(float x, const char* unknown) {
    if (threadIdx.x == 3)
        printf("[%5d|%-4u|%04x|%lld|%.2f|%8.3e|%c|%s|%p|%*d|%%|%hhd]\n", -7, 9u, 0xabcu, 1ll << 40, x, 1234.5, 'z',
               "text", (void*)0x1234, 6, 42, 300);
    if (threadIdx.x == 3 && unknown) printf("%s\n", unknown);
}

__global__ void claim(int n) { assert(n == 1); }

static unsigned wrong;

static void check(const char* what, bool good) {
    if (!good) printf("FAILED: %s\n", what);
    wrong += !good;
}

static void expect(const char* what, hipError_t found, hipError_t wanted = hipSuccess) {
    if (found != wanted) printf("%s: %s\n", what, hipGetErrorName(found));
    check(what, found == wanted);
}

static void managed() {
    int *p, *pinned, *on_device, *device, number = 0;
    expect("managed", hipMallocManaged(&p, 4096 * sizeof(int)));
    for (int i = 0; i < 4096; ++i) p[i] = i;
    add<<<16, 256>>>(p, 5);
    expect("wait", hipDeviceSynchronize());
    bool good = true;
    for (int i = 0; i < 4096; ++i) good &= p[i] == i + 5;
    check("kernels read and write it", good);
    expect("malloc", hipMalloc(&device, 4096));
    expect("from it to the device", hipMemcpy(device, p, 4096, hipMemcpyHostToDevice));
    expect("set", hipMemset(p, 0, 4096));
    expect("back", hipMemcpy(p + 1024, device, 4096, hipMemcpyDeviceToHost));
    expect("inside, as if on the device", hipMemcpy(p + 2048, p + 1024, 4096, hipMemcpyDeviceToDevice));
    expect("of anything", hipMemcpy(&number, p + 2048 + 7, 4, hipMemcpyDefault));
    check("what was copied", !p[0] && !p[1023] && p[1024] == 5 && number == 12);
    expect("advice", hipMemAdvise(p, 4096, hipMemAdviseSetReadMostly, 0));
    expect("prefetch", hipMemPrefetchAsync(p, 4096, 0));
    expect("beyond it", hipMemPrefetchAsync(p, 1 << 20, 0), hipErrorInvalidValue);
    expect("free", hipFree(p));
    expect("free again", hipFree(p), hipErrorInvalidValue);
    add<<<1, 64>>>(p, 1);
    expect("a kernel finds nothing there", hipDeviceSynchronize(), hipErrorIllegalAddress);
    expect("mapped", hipHostMalloc(&pinned, 1024, hipHostMallocMapped));
    expect("its address on the device", hipHostGetDevicePointer(&on_device, pinned, 0));
    pinned[9] = 30;
    add<<<4, 64>>>(on_device, 3);
    expect("wait", hipDeviceSynchronize());
    check("kernels wrote there", pinned[9] == 33);
    expect("free of mapped memory", hipHostFree(pinned));
    expect("pinned", hipHostMalloc(&pinned, 1024));
    expect("it is mapped, too", hipHostGetDevicePointer(&on_device, pinned, 0));
    check("at the same address", on_device == pinned);
    expect("free of pinned memory", hipHostFree(pinned));
    std::vector<int> ordinary(1024, 4);
    expect("register", hipHostRegister(ordinary.data(), 4096, hipHostRegisterDefault));
    expect("copy of it", hipMemcpy(device, ordinary.data(), 4096, hipMemcpyHostToDevice));
    expect("unregister", hipHostUnregister(ordinary.data()));
    expect("unregister again", hipHostUnregister(ordinary.data()), hipErrorHostMemoryNotRegistered);
}

static std::string order;

static void functions() {
    hipStream_t stream;
    int* p;
    expect("stream", hipStreamCreate(&stream));
    expect("malloc", hipMalloc(&p, 4096));
    std::vector<int> x(1024, 1);
    expect("copy", hipMemcpyAsync(p, x.data(), 4096, hipMemcpyHostToDevice, stream));
    add<<<16, 64, 0, stream>>>(p, 1);
    expect("copy back", hipMemcpyAsync(x.data(), p, 4096, hipMemcpyDeviceToHost, stream));
    auto function = [](void* data) { order += "f" + std::to_string(*(int*)data); };
    expect("function", hipLaunchHostFunc(stream, function, x.data()));
    add<<<16, 64, 0, stream>>>(p, 1);
    auto callback = [](hipStream_t, hipError_t error, void* data) {
        order += (const char*)data + std::to_string(error);
    };
    expect("callback", hipStreamAddCallback(stream, callback, (void*)"c", 0));
    add<<<1, 64, 0, stream>>>((int*)0x1234000, 1);
    expect("function behind a fault", hipLaunchHostFunc(stream, [](void*) { order += "never"; }, nullptr));
    expect("callback behind it", hipStreamAddCallback(stream, callback, (void*)"e", 0));
    expect("the fault", hipStreamSynchronize(stream), hipErrorIllegalAddress);
    printf("%s\n", order.c_str());
    expect("no function", hipLaunchHostFunc(stream, nullptr, nullptr), hipErrorInvalidValue);
    expect("destroy", hipStreamDestroy(stream));
}

static void attributes() {
    hipFuncAttributes a;
    int blocks = 0, size = 0, value = 0, version = 0;
    expect("attributes", hipFuncGetAttributes(&a, tiled));
    check("of a kernel", a.sharedSizeBytes == 1024 && a.maxThreadsPerBlock == 128);
    expect("no kernel", hipFuncGetAttributes(&a, (void (*)())nullptr), hipErrorInvalidDeviceFunction);
    expect("blocks", hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tiled, 128, 0));
    check("by slots", blocks == 20);
    expect("blocks with much memory", hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tiled, 128, 31 << 10));
    check("by memory", blocks == 2);
    expect("size of blocks", hipOccupancyMaxPotentialBlockSize(&blocks, &size, tiled));
    check("the largest", size == 128 && blocks == 20 * 64);
    expect("more memory", hipFuncSetAttribute(tiled, hipFuncAttributeMaxDynamicSharedMemorySize, 1024));
    expect("too much", hipFuncSetAttribute(tiled, hipFuncAttributeMaxDynamicSharedMemorySize, 1 << 20),
           hipErrorInvalidValue);
    expect("preference", hipFuncSetCacheConfig(tiled, hipFuncCachePreferL1));
    expect("an attribute", hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, 0));
    check("of the device", value == 64);
    expect("version", hipRuntimeGetVersion(&version));
    check("there is one", version > 0);
}

static void rows() {
    char *p, host[3][5] = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, {11, 12, 13, 14, 15}}, back[3][5] = {};
    size_t pitch;
    expect("rows", hipMallocPitch(&p, &pitch, 5, 3));
    expect("set", hipMemset2D(p, pitch, 77, 5, 3));
    expect("there", hipMemcpy2D(p, pitch, host, 5, 4, 3, hipMemcpyHostToDevice));
    expect("back", hipMemcpy2D(back, 5, p, pitch, 5, 3, hipMemcpyDeviceToHost));
    check("parts of rows", pitch >= 5 && back[0][3] == 4 && back[2][3] == 14 && back[2][4] == 77);
    expect("too wide", hipMemcpy2D(p, 3, host, 5, 4, 3, hipMemcpyHostToDevice), hipErrorInvalidValue);
}

static void count(void* data) { ++*(int*)data; }

static void graphs(int* p) {
    hipStream_t stream, other;
    hipEvent_t fork, join;
    hipGraph_t graph, second;
    hipGraphExec_t exec;
    hipGraphNode_t node, last;
    hipStreamCaptureStatus status;
    int x[64] = {}, y[64], *q, calls = 0, ten = 10;
    expect("stream", hipStreamCreate(&stream));
    expect("another", hipStreamCreate(&other));
    expect("event", hipEventCreate(&fork));
    expect("another", hipEventCreate(&join));
    expect("malloc", hipMalloc(&q, 256));
    expect("begin", hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    expect("begin again", hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipErrorIllegalState);
    expect("copy", hipMemcpyAsync(p, x, 256, hipMemcpyHostToDevice, stream));
    add<<<1, 64, 0, stream>>>(p, 1);
    expect("fork", hipEventRecord(fork, stream));
    expect("it joins", hipStreamWaitEvent(other, fork, 0));
    expect("set by the other", hipMemsetAsync(q, 0, 256, other));
    expect("function", hipLaunchHostFunc(other, count, &calls));
    expect("join", hipEventRecord(join, other));
    expect("wait for the other", hipStreamWaitEvent(stream, join, 0));
    add<<<1, 64, 0, stream>>>(p, 2);
    expect("back", hipMemcpyAsync(y, p, 256, hipMemcpyDeviceToHost, stream));
    expect("wait while it captures", hipStreamSynchronize(stream), hipErrorStreamCaptureUnsupported);
    expect("end of the other", hipStreamEndCapture(other, &graph), hipErrorIllegalState);
    expect("it captures", hipStreamIsCapturing(other, &status));
    check("both do", status == hipStreamCaptureStatusActive);
    expect("end", hipStreamEndCapture(stream, &graph));
    expect("it captures no more", hipStreamIsCapturing(other, &status));
    check("neither does", status == hipStreamCaptureStatusNone && !calls);
    expect("instantiate", hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    // What is added later is not part of it.
    expect("a node more", hipGraphAddEmptyNode(&node, graph, nullptr, 0));
    expect("destroy", hipGraphDestroy(graph));
    for (int i = 0; i < 5; ++i) {
        x[0] = i;
        expect("launch", hipGraphLaunch(exec, stream));
        expect("wait", hipStreamSynchronize(stream));
        check("what it did", y[0] == i + 3 && y[63] == 3 && calls == i + 1);
    }
    expect("destroy", hipGraphExecDestroy(exec));
    expect("destroy again", hipGraphExecDestroy(exec), hipErrorInvalidHandle);
    // By nodes.
    void* arguments[] = {&q, &ten};
    hipKernelNodeParams kernel = {};
    kernel.func = (void*)add;
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(64);
    kernel.kernelParams = arguments;
    hipMemsetParams set = {q, 4, 1, 0, 5, 64};
    hipHostNodeParams call = {count, &calls};
    expect("graph", hipGraphCreate(&graph, 0));
    expect("another", hipGraphCreate(&second, 0));
    expect("set", hipGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
    expect("a node of another graph", hipGraphAddEmptyNode(&last, second, &node, 1), hipErrorInvalidValue);
    expect("kernel", hipGraphAddKernelNode(&last, graph, &node, 1, &kernel));
    ten = 0;  // was copied
    expect("copy", hipGraphAddMemcpyNode1D(&node, graph, &last, 1, y, q, 256, hipMemcpyDeviceToHost));
    expect("call", hipGraphAddHostNode(&node, graph, &node, 1, &call));
    kernel.func = (void*)&calls;
    expect("no kernel", hipGraphAddKernelNode(&last, graph, nullptr, 0, &kernel), hipErrorInvalidDeviceFunction);
    expect("instantiate", hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    expect("launch", hipGraphLaunch(exec, nullptr));
    expect("wait", hipDeviceSynchronize());
    check("what it did", y[0] == 15 && y[63] == 15 && calls == 6);
    expect("begin", hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    expect("a stream goes while it captures", hipStreamDestroy(stream));
}

static void texts(int* p) {
    printf("before\n");
    say<<<1, 64>>>(2.5f, nullptr);
    add<<<1, 64>>>(p, 1);
    expect("wait", hipDeviceSynchronize());
    printf("between\n");
    say<<<1, 32>>>(-1e10f, (const char*)p);
    expect("wait", hipStreamSynchronize(nullptr));
    claim<<<1, 1>>>(2);
    check("assert", hipDeviceSynchronize() != hipSuccess);
}

int main(int, char** argv) {
    const std::string what = argv[1];
    int* p;
    expect("malloc", hipMalloc(&p, 4096));
    if (what == "managed") managed();
    if (what == "functions") functions();
    if (what == "attributes") attributes();
    if (what == "rows") rows();
    if (what == "graphs") graphs(p);
    if (what == "texts") texts(p);
    printf("%u wrong\n", wrong);
    return wrong != 0;
}
