// SPDX-License-Identifier: Apache-2.0
// What the tests of the run-times of HIP and OpenCL launch.
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>

struct pair {
    int a;
    double b;
};
__device__ int counter = 5;
__device__ double table[3] = {1, 2, 3};
__constant__ int weights[2] = {10, 20};

extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void mixed(double* out, char c, short s, pair p, float f, long l) {
    out[0] = c, out[1] = s, out[2] = p.a, out[3] = p.b, out[4] = f, out[5] = l;
}
extern "C" __global__ void rotate(int* x, int* y) {
    auto grid = cooperative_groups::this_grid();
    unsigned i = (unsigned)grid.thread_rank();
    x[i] = i;
    grid.sync();
    y[i] = x[(i + 64) % grid.size()];
}
extern "C" __global__ void reverse(int* x) {
    extern __shared__ int tile[];
    int t = threadIdx.x, last = blockDim.x - 1;
    tile[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    x[blockIdx.x * blockDim.x + t] = tile[last - t];
}
extern "C" __global__ void count(int* out) {
    atomicAdd(&counter, 1);
    if (threadIdx.x == 0 && blockIdx.x == 0) table[1] += 0.5;
    out[threadIdx.x] = 1;
}
// x[i] = 3 x[i] + k, many times: long enough that other things can happen meanwhile.
extern "C" __global__ void churn(int* x, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];
    for (int k = 0; k < rounds; ++k) v = v * 3 + k;
    x[i] = v;
}
extern "C" __global__ void scale(int* x, int factor) { x[blockIdx.x * blockDim.x + threadIdx.x] *= factor; }
extern "C" __global__ void __launch_bounds__(128) bounded(int* x) { x[threadIdx.x] = 1; }
extern "C" __global__ void wild(int* x) { x[threadIdx.x] = 1; }
extern "C" __global__ void allocate(int** out) {
    int* p = (int*)malloc(64);
    if (p) *p = 42;
    *out = p;
}
extern "C" __global__ void weigh(int* x) { x[threadIdx.x] = weights[threadIdx.x]; }
extern "C" __global__ void speak(int n) {
    if (threadIdx.x == 1) printf("kernel says %d %.2f %s\n", n, 0.5 * n, "so");
}
__global__ void mangled(int* x) { x[0] = 7; }
