// SPDX-License-Identifier: Apache-2.0
// The sum of x[0 … n): each work-group adds in its local memory, and then to the result.
__kernel void reduction(__global const uint* x, __global uint* sum, uint n, __local uint* part) {
    const size_t l = get_local_id(0);
    uint own = 0;
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) own += x[i];
    part[l] = own;
    for (size_t half_of = get_local_size(0) / 2; half_of; half_of /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_of) part[l] += part[l + half_of];
    }
    if (l == 0) atomic_add(sum, part[0]);
}
