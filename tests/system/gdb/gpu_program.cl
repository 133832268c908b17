/* SPDX-License-Identifier: Apache-2.0 */
/* For gpu_program.gdb. */
float twice(float x) {
    float y = 2 * x;
    return y;
}

kernel void scale(global float* x, uint n) {
    local float tile[64];
    size_t i = get_global_id(0);
    float value = x[i] + i;
    tile[get_local_id(0)] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    value = twice(tile[63 - get_local_id(0)]);
    if (i < n) {
        x[i] = value;
    }
}
