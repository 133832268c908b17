// SPDX-License-Identifier: Apache-2.0
#include <hip/hip_runtime.h>

extern "C" __global__ void triple(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 3 * in[i];
}
