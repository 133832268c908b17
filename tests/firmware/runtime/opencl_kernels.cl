// SPDX-License-Identifier: Apache-2.0
// What the test of OpenCL's run-time launches.
typedef struct {
    int a;
    double b;
} pair;

kernel void add(global const float* a, global const float* b, global float* c) {
    size_t i = get_global_id(0);
    c[i] = a[i] + b[i];
}
kernel void mixed(global double* out, char c, short3 v, pair p, constant int* set) {
    out[0] = c, out[1] = v.y, out[2] = p.a, out[3] = p.b, out[4] = set[1], out[5] = v.z;
}
// Sums of work-groups, by two arrays in local memory.
kernel void sums(global const int* x, global int* out, local int* one, local int* other) {
    local int own[64];
    size_t l = get_local_id(0);
    own[l & 63] = 1;
    one[l] = x[get_global_id(0)];
    other[l] = own[l & 63];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t n = get_local_size(0) / 2; n; n /= 2) {
        if (l < n) one[l] += one[l + n], other[l] += other[l + n];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (!l) out[2 * get_group_id(0)] = one[0], out[2 * get_group_id(0) + 1] = other[0];
}
kernel void shape(global uint* out) {
    size_t i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    out[i] = get_local_size(0) << 16 | get_local_size(1);
}
kernel __attribute__((reqd_work_group_size(32, 2, 1))) void shaped(global uint* out) {
    out[get_global_id(0) + get_global_id(1) * get_global_size(0)] = get_local_size(0) << 16 | get_local_size(1);
}
kernel void twice(global int* x) { x[get_global_id(0)] *= 2; }
kernel void wild(global int* x) { x[get_global_id(0)] = 1; }
