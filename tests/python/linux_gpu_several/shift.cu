/* SPDX-License-Identifier: Apache-2.0 */
/* Static names of device code are those of the other file, and mean others. */
#include "several.h"

static __device__ int blocks;
__constant__ int distance = 5;

static __global__ void work(int* numbers) { numbers[blockIdx.x * blockDim.x + threadIdx.x] += distance; }

int shift(int* numbers, int count) {
    work<<<dim3(count / 64), 64>>>(numbers);
    return cudaGetLastError();
}
