/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that share a GPU: share WHAT. */
#include <hip/hip_runtime.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

__global__ void fill(unsigned* p, unsigned value) { p[blockIdx.x * blockDim.x + threadIdx.x] = value; }

/* Divisions between two polls take the GPU's time and little of the simulator's. */
__global__ void wait_for(const unsigned* p) {
    unsigned x = 1 + threadIdx.x;
    while (*(const volatile unsigned*)p == 0) {
        for (int i = 0; i < 32; ++i) x = 0x7fffffff / (x | 1);
        if (x == 0) break; /* never, which the compiler does not know */
    }
}

enum { N = 1 << 20, ROUNDS = 10, BEYOND = 1 << 28 };

/* Each process fills memory at the same addresses as the others, with values of its own. */
static int rounds(unsigned own) {
    unsigned *p, *pinned, wrong = 0;
    if (hipMalloc(&p, N * sizeof *p) || hipHostMalloc(&pinned, N * sizeof *p)) return puts("no memory");
    for (unsigned round = 0; round < ROUNDS; ++round) {
        fill<<<N / 256, 256>>>(p, own + round);
        if (hipMemcpy(pinned, p, N * sizeof *p, hipMemcpyDeviceToHost)) return puts("a copy failed");
        for (unsigned i = 0; i < N; ++i) wrong += pinned[i] != own + round;
    }
    printf("%p %u wrong\n", (void*)p, wrong);
    return wrong != 0;
}

/* A pointer to what another process has, where this one has nothing. */
static int beyond() {
    unsigned* p;
    if (hipMalloc(&p, 4096)) return puts("no memory");
    fill<<<1, 64>>>(p + BEYOND, 7);
    printf("beyond: %s\n", hipGetErrorName(hipDeviceSynchronize()));
    fill<<<1, 64>>>(p, 7);
    printf("then: %s\n", hipGetErrorName(hipDeviceSynchronize()));
    return 0;
}

/* All that there is, in parts: "memory" of the GPU or "pinned", until it is killed, or both to the end. */
static int exhaust(const std::string& what) {
    size_t free_bytes, all;
    std::vector<void*> parts;
    void* part;
    hipMemGetInfo(&free_bytes, &all);
    while (what != "pinned" && hipMalloc(&part, 256 << 20) == hipSuccess) parts.push_back(part);
    printf("%s after %zu of 256 MiB\n", hipGetErrorName(hipGetLastError()), parts.size());
    while (what != "memory" && hipHostMalloc(&part, 1 << 20) == hipSuccess) {
    }
    printf("pinned: %s\n", hipGetErrorName(hipGetLastError()));
    fflush(stdout);
    if (what != "all") pause();
    for (void* p : parts) hipFree(p);
    hipMemGetInfo(&free_bytes, nullptr);
    printf("%zu MiB free\n", free_bytes >> 20);
    return 0;
}

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "rounds") return rounds((unsigned)atol(argv[2]));
    if (what == "beyond") return beyond();
    if (what == "exhaust") return exhaust(argv[2]);
    unsigned *p, *more;
    if (hipMalloc(&p, 4096) || hipMemset(p, 0, 4096)) return puts("no memory");
    if (what == "forever" && hipMalloc(&more, 6ll * BEYOND)) return puts("no memory");
    if (what == "stay") pause();
    wait_for<<<1, 64>>>(p);
    puts("it waits");
    fflush(stdout);
    printf("it ends: %s\n", hipGetErrorName(hipDeviceSynchronize()));
    return 0;
}
