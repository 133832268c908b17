// SPDX-License-Identifier: Apache-2.0
// Accelerations of n bodies (x, y, z, mass), which a block reads tile by tile.
__global__ void accelerations(const float4* bodies, float4* result, unsigned n, float softening) {
    extern __shared__ float4 tile[];
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 own = bodies[i];
    float3 sum = make_float3(0, 0, 0);
    for (unsigned first = 0; first < n; first += blockDim.x) {
        tile[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
        for (unsigned k = 0; k < blockDim.x; ++k) {
            const float4 other = tile[k];
            const float3 r = make_float3(other.x - own.x, other.y - own.y, other.z - own.z);
            const float inverse = rsqrtf(r.x * r.x + r.y * r.y + r.z * r.z + softening);
            const float weight = other.w * inverse * inverse * inverse;
            sum = make_float3(sum.x + weight * r.x, sum.y + weight * r.y, sum.z + weight * r.z);
        }
        __syncthreads();
    }
    result[i] = make_float4(sum.x, sum.y, sum.z, 0);
}
