// SPDX-License-Identifier: Apache-2.0
// Inclusive prefix sums: of blocks (scan), of the blocks' totals (scan again), and the totals of earlier blocks added.
__kernel void scan(__global int* x, __global int* totals, uint n, __local int* a, __local int* b) {
    const size_t i = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
    a[l] = i < n ? x[i] : 0;
    for (size_t step = 1; step < size; step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        b[l] = l >= step ? a[l] + a[l - step] : a[l];
        __local int* const swapped = a;
        a = b;
        b = swapped;
    }
    if (i < n) x[i] = a[l];
    if (l == size - 1) totals[get_group_id(0)] = a[l];
}

__kernel void add_totals(__global int* x, __global const int* totals, uint n) {
    const size_t i = get_global_id(0), group = get_group_id(0);
    if (group && i < n) x[i] += totals[group - 1];
}
