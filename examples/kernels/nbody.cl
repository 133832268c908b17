// SPDX-License-Identifier: Apache-2.0
// Accelerations of n bodies (x, y, z, mass), which a work-group reads tile by tile.
__kernel void accelerations(__global const float4* bodies, __global float4* result, uint n, float softening,
                            __local float4* tile) {
    const float4 own = bodies[get_global_id(0)];
    const uint size = get_local_size(0);
    float3 sum = 0;
    for (uint first = 0; first < n; first += size) {
        tile[get_local_id(0)] = bodies[first + get_local_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < size; ++i) {
            const float3 r = tile[i].xyz - own.xyz;
            const float inverse = rsqrt(dot(r, r) + softening);
            sum += tile[i].w * inverse * inverse * inverse * r;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    result[get_global_id(0)] = (float4)(sum, 0);
}
