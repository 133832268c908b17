// SPDX-License-Identifier: Apache-2.0
// y = A * x with a sparse matrix in compressed rows: a work-item, or a whole work-group, for each row.
__kernel void spmv_scalar(__global const uint* starts, __global const uint* columns, __global const float* values,
                          __global const float* x, __global float* y, uint rows) {
    const size_t row = get_global_id(0);
    if (row >= rows) return;
    float sum = 0;
    for (uint i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
    y[row] = sum;
}

__kernel void spmv_vector(__global const uint* starts, __global const uint* columns, __global const float* values,
                          __global const float* x, __global float* y, __local float* part) {
    const size_t row = get_group_id(0), l = get_local_id(0);
    float sum = 0;
    for (uint i = starts[row] + l; i < starts[row + 1]; i += get_local_size(0)) sum += values[i] * x[columns[i]];
    part[l] = sum;
    for (size_t half_of = get_local_size(0) / 2; half_of; half_of /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_of) part[l] += part[l + half_of];
    }
    if (l == 0) y[row] = part[0];
}
