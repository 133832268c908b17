// SPDX-License-Identifier: Apache-2.0
// A step of Jacobi's method with five points on a grid of n rows and columns whose border stays.
__kernel void stencil(__global const float* in, __global float* out, uint n) {
    const size_t x = get_global_id(0), y = get_global_id(1), at = y * n + x;
    if (x >= n || y >= n) return;
    const int border = x == 0 || y == 0 || x == n - 1 || y == n - 1;
    out[at] = border ? in[at] : 0.25f * ((in[at - 1] + in[at + 1]) + (in[at - n] + in[at + n]));
}
