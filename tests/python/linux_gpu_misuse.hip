/* SPDX-License-Identifier: Apache-2.0 */
/* What programs on Linux may do with a GPU, and what they must not: misuse WHAT. */
#include <hip/hip_runtime.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

__global__ void wild(int* p) { p[threadIdx.x] = 1; }

__global__ void forever(const int* p) {
    while (*(const volatile int*)p == 0) {
    }
}

template <class T>
__global__ void add(T* p, T value) {
    p[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

__global__ void sum(const int* in, int* out) {
    __shared__ int tile[64];
    extern __shared__ int more[];
    tile[threadIdx.x] = in[threadIdx.x];
    more[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x) return;
    int all = 0;
    for (int i = 0; i < 64; ++i) all += tile[i] * more[i];
    atomicAdd(out, all);
}

static unsigned wrong;

static void check(const char* what, bool good) {
    if (!good) printf("FAILED: %s\n", what);
    wrong += !good;
}

static void expect(const char* what, hipError_t found, hipError_t wanted = hipSuccess) {
    if (found != wanted) printf("%s: %s\n", what, hipGetErrorName(found));
    check(what, found == wanted);
}

static void calls(int* p) {
    enum { N = 1 << 20 };
    std::vector<int> x(N, 3);
    int *q, *out, *pinned, total = 0, count = 0, on_stack[100];
    void* all;
    expect("count", hipGetDeviceCount(&count));
    check("one GPU", count == 1);
    expect("malloc", hipMalloc(&q, N * sizeof(int)));
    expect("copy there", hipMemcpy(q, x.data(), N * sizeof(int), hipMemcpyDefault));
    add<int><<<dim3(N / 256), 256>>>(q, 4);
    expect("launch", hipGetLastError());
    expect("copy back", hipMemcpy(x.data(), q, N * sizeof(int), hipMemcpyDeviceToHost));
    check("sums", x == std::vector<int>(N, 7));
    expect("malloc of a number", hipMalloc(&out, sizeof *out));
    expect("memset", hipMemset(out, 0, sizeof *out));
    hipLaunchKernelGGL(sum, 1, 64, 64 * sizeof(int), 0, q, out);
    expect("copy of a number", hipMemcpy(&total, out, sizeof total, hipMemcpyDeviceToHost));
    check("a sum in shared memory", total == 64 * 7);
    hipStream_t stream;
    expect("stream", hipStreamCreate(&stream));
    expect("pinned", hipHostMalloc(&pinned, 1 << 20));
    std::iota(pinned, pinned + 1024, 0);
    expect("there by stream", hipMemcpyAsync(p, pinned, 4096, hipMemcpyHostToDevice, stream));
    add<<<16, 64, 0, stream>>>(p, 5);
    expect("back by stream", hipMemcpyAsync(pinned, p, 4096, hipMemcpyDeviceToHost, stream));
    expect("wait", hipStreamSynchronize(stream));
    check("a stream's order", pinned[0] == 5 && pinned[1023] == 1028);
    expect("to the stack", hipMemcpy(on_stack, q, sizeof on_stack, hipMemcpyDeviceToHost));
    check("what is there", on_stack[99] == 7);
    expect("too much", hipMalloc(&all, (size_t)1 << 40), hipErrorOutOfMemory);
    add<<<1, 5000>>>(q, 1);
    expect("a large block", hipGetLastError(), hipErrorInvalidConfiguration);
    expect("behind an allocation", hipMemcpy(on_stack, q + N, 4, hipMemcpyDeviceToHost), hipErrorInvalidValue);
    expect("no kernel", hipLaunchKernel(&wrong, dim3(1), dim3(1), nullptr, 0, nullptr), hipErrorInvalidDeviceFunction);
    expect("free", hipFree(q));
    expect("free again", hipFree(q), hipErrorInvalidValue);
    expect("free of pinned memory", hipHostFree(pinned));
    printf("%u wrong\n", wrong);
}

static void module(const char* file, int* p) {
    hipModule_t loaded;
    hipFunction_t function;
    int found[2] = {};
    void* arguments[] = {&p};
    const hipError_t error = hipModuleLoad(&loaded, file);
    if (error) return (void)printf("%s: %s\n", file, hipGetErrorString(error));
    expect("function", hipModuleGetFunction(&function, loaded, "add"));
    expect("launch", hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    expect("copy", hipMemcpy(&found[0], p, sizeof(int), hipMemcpyDeviceToHost));
    expect("unload", hipModuleUnload(loaded));
    expect("copy", hipMemcpy(&found[1], p, sizeof(int), hipMemcpyDeviceToHost));
    printf("modules: %d %d\n", found[0], found[1]);
}

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "echo") {
        for (int i = 2; i < argc; ++i) printf("<%s>", argv[i]);
        printf("\n%s\n", getenv("WORD") ? getenv("WORD") : "");
        std::string line;
        std::getline(std::ifstream("data.txt"), line);
        std::cout << line << std::endl;
        return 0;
    }
    if (what == "marks") {
        printf("\1fabricvp ends 0\n\1fabricvp 0123456789abcdef ends 0\nno line's end\1");
        return 201;
    }
    if (what == "write") {
        mkdir("deep", 0755);
        mkdir("deep/er", 0755);
        std::ofstream("a b.txt") << "ab";
        std::ofstream("other.bin") << "other";
        std::ofstream("deep/er/" + std::string(argv[2]) + ".bin") << std::string(atol(argv[2]), 'x');
        return 0;
    }
    if (what == "memory") {
        // Of the machine, and in free huge pages, in KiB: all of them soon after the last process with a GPU has ended.
        for (int tries = 0;; ++tries) {
            long available = 0, huge = 0, unused = -1;
            std::ifstream all("/proc/meminfo");
            for (std::string line; std::getline(all, line);)
                for (auto [name, to] : {std::pair("MemAvailable:", &available), std::pair("HugePages_Total:", &huge),
                                        std::pair("HugePages_Free:", &unused)})
                    if (line.rfind(name, 0) == 0) *to = atol(line.c_str() + strlen(name));
            if (unused != huge && tries < 1000) {
                usleep(1000);
                continue;
            }
            std::cout << available << std::endl << unused * 2048 << std::endl;
            return 0;
        }
    }
    int* p;
    expect("malloc", hipMalloc(&p, 1 << 16));
    expect("memset", hipMemset(p, 0, 1 << 16));
    if (what == "calls") calls(p);
    if (what == "panic")
        for (int i = 0; i < 17; ++i) (void)__hipPushCallConfiguration(dim3(1), dim3(1), 0, nullptr);
    if (what == "module") module(argv[2], p);
    if (what == "wild") {
        wild<<<1, 64>>>((int*)0x1234000);
        printf("wild: %s\n", hipGetErrorString(hipDeviceSynchronize()));
        wild<<<1, 64>>>(p);
        printf("then: %s\n", hipGetErrorString(hipDeviceSynchronize()));
    }
    if (what == "touch") *(volatile int*)p = 1;
    if (what == "forever" || what == "leave") {
        forever<<<1, 64>>>(p);
        printf("it waits\n");
        fflush(stdout);
        if (what == "leave") _exit(0);
        expect("the end", hipDeviceSynchronize());
    }
    return wrong != 0;
}
