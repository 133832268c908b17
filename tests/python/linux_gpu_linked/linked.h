/* SPDX-License-Identifier: Apache-2.0 */
/* Device code that files of one program know of each other; by the names of HIP or CUDA (-x hip, -x cuda). */
#ifndef LINKED_H
#define LINKED_H
#ifdef __HIP__
#include <hip/hip_runtime.h>
#define API(name) hip##name
#else
#define API(name) cuda##name
#endif

extern __device__ int launches;
extern __constant__ float weights[4];
__device__ float weigh(int lane, float x);
__global__ void scale(float* numbers, float factor);
int count_statics();

template <class T>
__global__ void add(T* numbers, T more) {
    numbers[threadIdx.x] += more;
}
inline __device__ int common = 100;
inline __device__ float half(float x) { return x / 2; }

#endif
