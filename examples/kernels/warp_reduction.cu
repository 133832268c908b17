// SPDX-License-Identifier: Apache-2.0
// The sum of an array by shuffles: each warp adds its lanes' values, the first warp those of all warps.
__device__ unsigned sum_of_warp(unsigned value) {
    for (int distance = warpSize / 2; distance > 0; distance /= 2)
        value += __shfl_down_sync(__activemask(), value, distance);
    return value;
}

__global__ void __launch_bounds__(256) warp_reduction(const unsigned* x, unsigned* total, int n) {
    __shared__ unsigned of_warp[32];
    const unsigned lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    unsigned value = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += x[i];
    value = sum_of_warp(value);
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = lane < blockDim.x / warpSize ? of_warp[lane] : 0;
        value = sum_of_warp(value);
        if (lane == 0) atomicAdd(total, value);
    }
}
