// SPDX-License-Identifier: Apache-2.0
kernel void triple(global const float* in, global float* out, int n) {
    const size_t i = get_global_id(0);
    if (i < n) out[i] = 3 * in[i];
}
