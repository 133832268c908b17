/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of numbers over all GPUs: each reads the edges of its neighbours' memory in kernels, and by copies. */
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

enum { ITEMS = 1024, STEPS = 3 };

__global__ void smooth(const int* left, const int* own, const int* right, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = (i ? own[i - 1] : left[ITEMS - 1]) + own[i] + (i < ITEMS - 1 ? own[i + 1] : right[0]);
}

static hipError_t first;
static void check(hipError_t error) {
    if (error && !first) printf("%s\n", hipGetErrorString(first = error));
}

int main() {
    int gpus = 0;
    check(hipGetDeviceCount(&gpus));
    const int all = gpus * ITEMS;
    std::vector<int> x(all), y(all), back(all);
    for (int i = 0; i < all; ++i) x[i] = i * 7 % 31;
    std::vector<int*> in(gpus), out(gpus);
    for (int g = 0; g < gpus; ++g) {
        int peer = 0;
        check(hipDeviceCanAccessPeer(&peer, g, (g + 1) % gpus));
        check(hipSetDevice(g));
        if (peer) check(hipDeviceEnablePeerAccess((g + 1) % gpus, 0));
        printf("%d", peer);
        check(hipMalloc(&in[g], ITEMS * sizeof(int)));
        check(hipMalloc(&out[g], ITEMS * sizeof(int)));
        check(hipMemcpy(in[g], &x[g * ITEMS], ITEMS * sizeof(int), hipMemcpyHostToDevice));
    }
    for (int step = 0; step < STEPS; ++step) {
        for (int g = 0; g < gpus; ++g) {
            check(hipSetDevice(g));
            smooth<<<ITEMS / 256, 256>>>(in[(g + gpus - 1) % gpus], in[g], in[(g + 1) % gpus], out[g]);
        }
        for (int g = 0; g < gpus; ++g) {
            check(hipSetDevice(g));
            check(hipDeviceSynchronize());
        }
        in.swap(out);
        for (int i = 0; i < all; ++i) y[i] = x[(i + all - 1) % all] + x[i] + x[(i + 1) % all];
        x.swap(y);
    }
    for (int g = 0; g < gpus; ++g) /* by way of the next one */
        check(hipMemcpyPeer(out[(g + 1) % gpus], (g + 1) % gpus, in[g], g, ITEMS * sizeof(int)));
    for (int g = 0; g < gpus; ++g)
        check(hipMemcpy(&back[g * ITEMS], out[(g + 1) % gpus], ITEMS * sizeof(int), hipMemcpyDeviceToHost));
    printf(" %d GPUs, the numbers are %s\n", gpus, back == x ? "right" : "wrong");
    return first || back != x;
}
