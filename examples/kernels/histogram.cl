// SPDX-License-Identifier: Apache-2.0
// Counts bytes: each work-group in its local memory, then all together.
__kernel void histogram(__global const uchar* x, __global uint* bins, uint n) {
    __local uint own[256];
    for (size_t i = get_local_id(0); i < 256; i += get_local_size(0)) own[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&own[x[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t i = get_local_id(0); i < 256; i += get_local_size(0)) atomic_add(&bins[i], own[i]);
}
