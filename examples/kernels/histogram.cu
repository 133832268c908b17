// SPDX-License-Identifier: Apache-2.0
// Counts bytes: each block in its shared memory, then all together.
__global__ void histogram(const unsigned char* x, unsigned* bins, unsigned n) {
    __shared__ unsigned own[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
    __syncthreads();
    const unsigned first = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (unsigned i = first; i < n; i += threads) atomicAdd(&own[x[i]], 1u);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], own[i]);
}
