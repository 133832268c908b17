// SPDX-License-Identifier: Apache-2.0
// y = A * x with a sparse matrix in compressed rows: a thread, or a whole block, for each row.
__global__ void spmv_scalar(const unsigned* starts, const unsigned* columns, const float* values, const float* x,
                            float* y, unsigned rows) {
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (unsigned i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
    y[row] = sum;
}

__global__ void spmv_vector(const unsigned* starts, const unsigned* columns, const float* values, const float* x,
                            float* y) {
    extern __shared__ float part[];
    const unsigned row = blockIdx.x, l = threadIdx.x;
    float sum = 0;
    for (unsigned i = starts[row] + l; i < starts[row + 1]; i += blockDim.x) sum += values[i] * x[columns[i]];
    part[l] = sum;
    for (unsigned half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (l < half) part[l] += part[l + half];
    }
    if (l == 0) y[row] = part[0];
}
