/* SPDX-License-Identifier: Apache-2.0 */
#include "linked.h"

__device__ int launches = 5;
__constant__ float weights[4];
static __device__ int hidden = 2;
namespace {
__constant__ int apart = 20;
}

__device__ float weigh(int lane, float x) { return x * weights[lane]; }

__global__ void scale(float* numbers, float factor) {
    numbers[threadIdx.x] = half(numbers[threadIdx.x] * factor * 2);
    if (threadIdx.x == 0) {
        atomicAdd(&launches, 1);
        common += 1;
    }
}

static __global__ void statics(int* found) { *found = hidden += apart; }

int count_statics() {
    int *number, found[2] = {0, 0};
    if (API(Malloc)(&number, sizeof *number)) return -1;
    statics<<<1, 1>>>(number);
    add<<<1, 1>>>(number, 1000);
    if (API(Memcpy)(found, number, sizeof *number, API(MemcpyDeviceToHost))) return -2;
    if (API(MemcpyFromSymbol)(&found[1], hidden, sizeof hidden)) return -3;
    return found[0] * 100 + found[1];
}
