// SPDX-License-Identifier: Apache-2.0
// The sum of x[0 … n): each block adds in its shared memory, and then to the result.
__global__ void reduction(const unsigned* x, unsigned* sum, unsigned n) {
    extern __shared__ unsigned part[];
    const unsigned l = threadIdx.x;
    unsigned own = 0;
    for (unsigned i = blockIdx.x * blockDim.x + l; i < n; i += gridDim.x * blockDim.x) own += x[i];
    part[l] = own;
    for (unsigned half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (l < half) part[l] += part[l + half];
    }
    if (l == 0) atomicAdd(sum, part[0]);
}
